"""The phrases of explanations, in English, by key; pages have them under the same keys in other languages.

`{name}` is filled in. A phrase that depends on a `count` has two forms, `_one` and `_other`.
"""

from hubbub.core.mail.delivery_forecast import NOTES
from hubbub.model.proof import MEANT, REASONS

OF_PRESENCE = {
    "machine_online": "The machine {name} is online; it was heard {seen}.",
    "machine_offline": "The machine {name} is offline since {since}: what runs there is heard again when it is back.",
    "machine_said": "{name} is no machine of the project, but a program beside an agent, which named it.",
    "machine_unknown": "The project has no machine {name} (any more).",
    "agent_never_came": "{name} has never been here: the project knows the name alone.",
    "agent_offline": "{name} is offline since {since}: {reason}.",
    "end_silent": "its heartbeat stopped",
    "end_left": "it left",
    "end_replaced": "another instance took its name",
    "end_other": "its stay ended",
    "agent_here": "{name} is here{where} and says it is {condition}{doing}; its last heartbeat came {seen}.",
    "here_on": " on {machine}",
    "here_doing": ", doing {doing}",
    "condition_working": "working",
    "condition_idle": "idle",
    "condition_blocked": "blocked",
    "condition_error": "error",
    "condition_waiting": "waiting",
    "condition_offline": "offline",
    "agent_acts": "{name} keeps no heartbeat here; it was last seen to act at {at}.",
    "agent_acted": "It has acted since, without a heartbeat, at {at}.",
    "account_paused": (
        "Its account {account} is paused until {until}: {why}."
        " Nothing is begun on it before, and its leases last as much longer."
    ),
    "account_paused_open": "Its account {account} is paused until a person resumes it: {why}.",
    "breaker_stopped": "It was stopped {since}: {why}. A person lets it go on: hubbub breaker lift {id}.",
    "loop_answering": "{who} have answered each other {times} times in turn while no task of theirs changed",
    "loop_repeating": "{who} made the same call of a tool {times} times in a row",
    "loop_nesting": "tasks were made for tasks for tasks, {times} deep, last by {who}",
    "loop_multiplying": "{times} tasks came of one task, last by {who}",
    "loop_retrying": "one task was tried again {times} times, last for {who}",
    "budget_spent": (
        "It may use nothing more: {budget} is spent ({state}). Its next tool is denied, and it begins nothing, before"
        " a person raises it{until}: hubbub budget set."
    ),
    "budget_until": ", or the next day begins at {until}",
    "limit_window": "the usage limit of some hours is reached",
    "limit_weekly": "the usage limit of a week is reached",
    "limit_model": "the usage limit of its model is reached",
    "limit_overloaded": "the maker of its model takes no more calls just now",
    "limit_none": "{by} paused it",
    "placement_running": "It runs on the machine {where} since {since}{times}.",
    "placement_restarting": "Its program on {where} died{died} and is started again{times}, since {since}.",
    "placement_failed": "Its program on {where} failed{died}{times} at {since}; start it again: hubbub agent start.",
    "placement_stopped": "Its program on {where} was stopped at {since}; start it again: hubbub agent start.",
    "placement_ordered": "It was ordered to the machine {where} at {since}, which has not said that it runs.",
    "placed_died": " (exit code {code})",
    "placed_times_one": " after {count} restart",
    "placed_times_other": " after {count} restarts",
    "agent_called": "It last called a tool ({tool}) at {at}.",
    "agent_said": "Its last output was {output} at {at}.",
}
OF_WAITING = {
    "approval_pending": (
        "A call of {tool} on {place} by {who}{what} waits for a person's answer, until {until}:"
        " hubbub approve {id}, or hubbub deny {id}."
    ),
    "approval_shown": " ({shown})",
    "approval_place": "{place} (so says the program beside that agent)",
    "order": "An order of {who} to {machine} ({tool}), given {at}, {status}.",
    "order_queued": "has not been sent yet",
    "order_sent": "was sent and is not confirmed yet",
    "order_taken": "is under way there",
}
OF_FILES = {
    "file_area_one": "{file} lies in the area {areas}.",
    "file_area_other": "{file} lies in the areas {areas}.",
    "file_free": "Nobody who is here has said that they work on {file}: it is free.",
    "mode_block": "Others who declare that they work there are refused meanwhile.",
    "mode_warn": "Others may declare the same, and are told of it.",
    "mode_off": "The project does not mind overlaps.",
    "file_claimed_more": "{by} has claimed {count} more there.",
    "file_claimed_editing": (
        "{by} has claimed {file} by editing it at {at}{branch}{worktree}. That ends with a commit, when it is not"
        " edited until {until}, when {by} lets go of it, leaves, or is silent until {silent}, or when a person"
        " releases what {by} has declared."
    ),
    "file_claimed": (
        "{by} has claimed {file} with the tool files at {at}{branch}{worktree}. That ends when it is not"
        " edited until {until}, when {by} lets go of it, leaves, or is silent until {silent}, or when a person"
        " releases what {by} has declared."
    ),
    "on_branch": ", on branch {branch}",
    "in_worktree": ", in {worktree}",
    "file_held": (
        "{by} says that it works on {file}: it has declared {what}, and is here since {since}. That ends when it"
        " leaves, declares something else, or is silent until {until}, or when a person releases it."
    ),
    "area": "the area {area}",
}
OF_AGENTS = {
    "machine_agents_one": "{agents} is placed on it.",
    "machine_agents_other": "{agents} are placed on it.",
    "inbox_empty": "Nothing waits in its inbox.",
    "inbox_undelivered_one": (
        "{count} message or task{more} in its inbox has not reached it yet, waiting since {since}. {note}"
    ),
    "inbox_undelivered_other": (
        "{count} messages or tasks{more} in its inbox have not reached it yet, the oldest since {since}. {note}"
    ),
    "or_more": " or more",
    "inbox_unacknowledged_one": "It has read {count} message or task that it did not acknowledge.",
    "inbox_unacknowledged_other": "It has read {count} messages or tasks that it did not acknowledge.",
    "agent_woken": "The last wake was brought by {client} {at}: {status}.",
    "wake_waiting": "waiting",
    "wake_taken": "taken",
    "wake_woken": "woken",
    "wake_queued": "queued",
    "wake_cannot": "cannot",
    "wake_answered": "answered",
    "wake_needless": "needless",
    "wake_replaced": "replaced",
    "wake_refused": "refused",
    "wake_lost": "lost",
    "wake_ignored": "ignored",
    "inbox_dead_one": "{count} of these waited so long that its sender was told: nobody read it.",
    "inbox_dead_other": "{count} of these waited so long that their senders were told: nobody read them.",
}
OF_TASKS = {
    "task": "Task #{number} {title} {status}{whose} since {since}{cause}.",
    "task_queued": "is queued",
    "task_delivered": "is delivered",
    "task_accepted": "is accepted",
    "task_working": "is being worked on",
    "task_blocked": "is blocked",
    "task_in_review": "is in review",
    "task_completed": "is completed",
    "task_failed": "has failed",
    "task_cancelled": "is cancelled",
    "task_expired": "has expired",
    "by": " by {name}",
    "task_expires": "If nobody begins it, it expires at {at}.",
    "task_late": "It is late: it should have got on by {since}. A person is needed.",
    "task_not_begun": "Nobody began it within its time.",
    "ended_completed": "It was completed by {by}.",
    "ended_failed": "It was given up by {by}.",
    "ended_cancelled": "It was cancelled by {by}.",
    "task_result": "Its result: {result}.",
    "task_reason": "The reason: {result}.",
    "task_retry": "It goes on if it is tried again: hubbub task retry {number}.",
    "task_waits": "It waits for {needs} to be completed first.",
    "task_stuck": "That will not happen by itself: {numbers} must be tried again (hubbub task retry).",
    "named_task": "#{number} ({status}{whom})",
    "with": ", with {name}",
    "more": "{count} more",
    "state_queued": "queued",
    "state_delivered": "delivered",
    "state_accepted": "accepted",
    "state_working": "working",
    "state_blocked": "blocked",
    "state_in_review": "in review",
    "state_completed": "completed",
    "state_failed": "failed",
    "state_cancelled": "cancelled",
    "state_expired": "expired",
    "again_released": "It was released{whose} at {at}{reason}; this is attempt {attempt}.",
    "again_reassigned": "It was reassigned{whose} at {at}{reason}; this is attempt {attempt}.",
    "again_retried": "It was retried{whose} at {at}{reason}; this is attempt {attempt}.",
    "again_reopened": "It was reopened{whose} at {at}{reason}; this is attempt {attempt}.",
    "from": " from {name}",
    "reason": ": {reason}",
    "free_nobody": "It is free, and nobody is here: it begins when an agent comes and claims it.",
    "free_alone": "It is free, and nobody has claimed it; {name} could, being the only one here.",
    "free_several": "It is free, and nobody has claimed it; {names} could: they are here.",
    "task_unheld": "Nobody has it: assign it to an agent, or put it back.",
    "task_addressed": "It is addressed to {name}, in whose inbox it is not yet.",
    "inbox_read": "It has been in the inbox of {name} since {since}. {name} read it at {at} and has not accepted it.",
    "inbox_told": (
        "It has been in the inbox of {name} since {since}. {name} was told of it at {at} and has not read it."
    ),
    "inbox_unread": "It has been in the inbox of {name}, unread, since {since}.",
    "holder_waits": (
        "{name} holds it; it goes on when {name} or a person unblocks it, or it is released or reassigned."
    ),
    "work_of_machine": "It is the machine's own work, done for {name}; it ends when that work does.",
    "work_of_program": (
        "It is the work of a program beside its sender, done for {name}; it ends when that work does."
    ),
    "task_held": "{name} holds it without a lease: silence does not end that; it can be reassigned.",
    "task_leased": (
        "{name} holds it by a lease until {until}, renewed by each heartbeat; after that it goes back to the open"
        " queue."
    ),
    "task_leased_to": (
        "{name} holds it by a lease until {until}, renewed by each heartbeat; after that it waits for it to come"
        " back."
    ),
    "lease_ended": "It is addressed to {name}, and is delivered again when that is back; or reassign it.",
    "agent_busy": "{name} works on {numbers} meanwhile.",
    "task_checked": "{name} is checking it, until {until} at the latest.",
    "task_handed_in": (
        "It was handed in, and nobody was asked by name to look at it; whoever does completes it."
    ),
    "review_pending": "{name} was asked to review {artifact} for it at {at}, and has not answered.",
    "agent_stale": "It fell silent at its work {since}: a person is needed to say what becomes of that.",
    "agent_holds_one": "It holds {count} task: {tasks}.",
    "agent_holds_other": "It holds {count} tasks: {tasks}.",
}
OF_LEASES = {
    "thing_counted": "There are {capacity} of {thing}, of which {taken} are held.",
    "thing_held": (
        "{holder} holds {things}{host}{purpose} since {since}, until it gives that back or is heard of no more."
    ),
    "thing_waiting_one": "{who} waits for it.",
    "thing_waiting_other": "{count} wait for it, in this turn: {who}.",
    "thing_free": "Nobody holds {thing}: it is free.",
    "lease_held": "It holds {things}{host}{purpose} since {since}.",
    "lease_waiting": "It waits for {things}{host}{purpose} since {since}{holders}{before}.",
    "lease_holders": ", which {who} holds",
    "lease_before": "; {who} asked before",
    "lease_on": " on {host}",
    "lease_for": " for {purpose}",
}
OF_PROOF = {
    "task_done_when": "It will count as completed when {demands}.",
    "task_unproven": "It does not count as completed before {lacks}.",
    "task_proven": "All that it asks for was seen.",
    "task_waived": "{by} let it be completed without the proof that it asks for{reason}.",
    "lack_missing": "{demand} (missing: {reason})",
    "lack_not_seen": "{demand} (not seen: {reason})",
    **{f"demand_{key.replace('-', '_')}": words for key, words in MEANT.items()},
    **{f"unmet_{key}": words for key, words in REASONS.items()},
}
WORDS = {
    "ago": "{at} ({span} ago)",
    "ahead": "{at} (in {span})",
    **OF_PRESENCE,
    **OF_WAITING,
    **OF_LEASES,
    **OF_FILES,
    **OF_AGENTS,
    **OF_TASKS,
    **OF_PROOF,
    **{f"note_{key}": note for key, note in NOTES.items()},
}
