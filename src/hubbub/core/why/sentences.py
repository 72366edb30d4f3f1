"""The phrases of explanations, in English, by key; pages have them under the same keys in other languages.

`{name}` is filled in. A phrase that depends on a `count` has two forms, `_one` and `_other`.
"""

from hubbub.core.mail.delivery_forecast import NOTES
from hubbub.model.work.proof import MEANT, REASONS

OF_PRESENCE = {
    "machine_online": "The machine {name} is online; it was last heard {seen}.",
    "machine_offline": "The machine {name} has been offline since {since}; its programs are heard when it is back.",
    "machine_said": "{name} is not a machine of this project; a program beside an agent gave that name.",
    "machine_unknown": "This project has no machine {name} (any more).",
    "agent_never_came": "{name} has never been online: only its name is known.",
    "agent_offline": "{name} has been offline since {since}: {reason}.",
    "end_silent": "its heartbeat stopped",
    "end_left": "it left",
    "end_replaced": "another instance took its name",
    "end_other": "its session ended",
    "agent_here": "{name} is online{where} and says it is {condition}{doing}; its last heartbeat came {seen}.",
    "here_on": " on {machine}",
    "here_doing": ", doing {doing}",
    "condition_working": "working",
    "condition_idle": "idle",
    "condition_blocked": "blocked",
    "condition_error": "error",
    "condition_waiting": "waiting",
    "condition_offline": "offline",
    "agent_acts": "{name} sends no heartbeat; it was last seen acting at {at}.",
    "agent_acted": "It has acted since, without a heartbeat, at {at}.",
    "account_paused": (
        "Its account {account} is paused until {until}: {why}."
        " Nothing starts on it before then, and its leases last that much longer."
    ),
    "account_paused_open": "Its account {account} is paused until a person resumes it: {why}.",
    "breaker_stopped": "It was stopped {since}: {why}. A person can let it continue: hubbub breaker lift {id}.",
    "loop_answering": "{who} answered each other {times} times in a row while none of their tasks changed",
    "loop_repeating": "{who} made the same tool call {times} times in a row",
    "loop_nesting": "tasks created tasks that created tasks, {times} levels deep, most recently by {who}",
    "loop_multiplying": "one task led to {times} tasks, most recently by {who}",
    "loop_retrying": "one task was retried {times} times, most recently for {who}",
    "budget_spent": (
        "It cannot use any more: {budget} is spent ({state}). Its next tool call is denied and it starts nothing"
        " until a person raises the budget{until}: hubbub budget set."
    ),
    "budget_until": ", or until the next day begins at {until}",
    "limit_window": "its usage limit for some hours is reached",
    "limit_weekly": "its weekly usage limit is reached",
    "limit_model": "the usage limit of its model is reached",
    "limit_overloaded": "the provider of its model takes no more calls right now",
    "limit_none": "{by} paused it",
    "placement_running": "It has been running on the machine {where} since {since}{times}.",
    "placement_restarting": "Its program on {where} died{died} and is being restarted{times}, since {since}.",
    "placement_failed": "Its program on {where} failed{died}{times} at {since}; start it again: hubbub agent start.",
    "placement_stopped": "Its program on {where} was stopped at {since}; start it again: hubbub agent start.",
    "placement_ordered": "The machine {where} was told to start it at {since}, and has not confirmed that it runs.",
    "placed_died": " (exit code {code})",
    "placed_times_one": " after {count} restart",
    "placed_times_other": " after {count} restarts",
    "agent_called": "It last called a tool ({tool}) at {at}.",
    "agent_said": "Its last output was {output} at {at}.",
}
OF_WAITING = {
    "approval_pending": (
        "A call of {tool} on {place} by {who}{what} is waiting for approval, until {until}:"
        " hubbub approve {id}, or hubbub deny {id}."
    ),
    "approval_shown": " ({shown})",
    "approval_place": "{place} (so says the program beside that agent)",
    "order": "An order from {who} to {machine} ({tool}), given {at}, {status}.",
    "order_queued": "has not been sent yet",
    "order_sent": "was sent and is not confirmed yet",
    "order_taken": "is in progress there",
}
OF_FILES = {
    "file_area_one": "{file} is in the area {areas}.",
    "file_area_other": "{file} is in the areas {areas}.",
    "file_free": "No agent that is online works on {file}: it is free.",
    "mode_block": "Others who want to work there are refused until then.",
    "mode_warn": "Others may work there too, and are told about it.",
    "mode_off": "The project allows overlaps.",
    "file_claimed_more": "{by} has claimed {count} more there.",
    "file_claimed_editing": (
        "{by} has claimed {file} by editing it at {at}{branch}{worktree}. The claim ends with a commit, when"
        " the file is not edited until {until}, when {by} releases it, leaves, or is silent until {silent}, or when a"
        " person releases the claims of {by}."
    ),
    "file_claimed": (
        "{by} has claimed {file} with the tool files at {at}{branch}{worktree}. The claim ends when the"
        " file is not edited until {until}, when {by} releases it, leaves, or is silent until {silent}, or when a"
        " person releases the claims of {by}."
    ),
    "on_branch": ", on branch {branch}",
    "in_worktree": ", in {worktree}",
    "file_held": (
        "{by} says that it works on {file}: it has claimed {what}, and has been online since {since}. That ends when"
        " it leaves, claims something else, or is silent until {until}, or when a person releases it."
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
    "inbox_unacknowledged_one": "It has read {count} message or task without acknowledging it.",
    "inbox_unacknowledged_other": "It has read {count} messages or tasks without acknowledging them.",
    "agent_woken": "It was last woken by {client} {at}: {status}.",
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
    "inbox_dead_one": "{count} of these waited so long that its sender was told that nobody read it.",
    "inbox_dead_other": "{count} of these waited so long that their senders were told that nobody read them.",
}
OF_TASKS = {
    "task": "Task T-{number} {title} {status}{cause}.",
    "task_queued": "has been queued since {since}",
    "task_delivered": "has been waiting to be accepted since {since}",
    "task_accepted": "was accepted{whose} at {since}",
    "task_working": "has been worked on{whose} since {since}",
    "task_blocked": "has been blocked since {since}",
    "task_in_review": "has been in review since {since}",
    "task_completed": "was completed at {since}",
    "task_failed": "failed at {since}",
    "task_cancelled": "was cancelled at {since}",
    "task_expired": "expired at {since}",
    "by": " by {name}",
    "task_expires": "If nobody starts it, it expires at {at}.",
    "task_late": "It is late: there should have been progress by {since}. A person is needed.",
    "task_not_begun": "Nobody started it in time.",
    "ended_completed": "{by} completed it.",
    "ended_failed": "{by} gave it up.",
    "ended_cancelled": "{by} cancelled it.",
    "task_result": "Its result: {result}.",
    "task_reason": "The reason: {result}.",
    "task_retry": "To try it again: hubbub task retry {number}.",
    "task_waits": "It waits for {needs} to be completed first.",
    "task_stuck": "That will not happen by itself: {numbers} must be retried (hubbub task retry).",
    "named_task": "T-{number} ({status}{whom})",
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
    "free_nobody": "It is free, but no agent is online: it starts when one comes and claims it.",
    "free_alone": "It is free and unclaimed; {name} could claim it, the only agent online.",
    "free_several": "It is free and unclaimed; {names} are online and could claim it.",
    "task_unheld": "Nobody has it: assign it to an agent, or return it to the queue.",
    "task_addressed": "It is addressed to {name}, but not in its inbox yet.",
    "inbox_read": "It has been in the inbox of {name} since {since}. {name} read it at {at} and has not accepted it.",
    "inbox_told": (
        "It has been in the inbox of {name} since {since}. {name} was told of it at {at} and has not read it."
    ),
    "inbox_unread": "It has been in the inbox of {name}, unread, since {since}.",
    "holder_waits": (
        "{name} holds it; it continues when {name} or a person unblocks it, or it is released or reassigned."
    ),
    "work_of_machine": "It is the machine's own work, done for {name}; it ends when that work does.",
    "work_of_program": (
        "It is the work of a program beside its sender, done for {name}; it ends when that work does."
    ),
    "task_held": "{name} holds it without a lease, so silence does not end that; it can be reassigned.",
    "task_leased": (
        "{name} holds it by a lease until {until}, renewed by each heartbeat; after that it returns to the open"
        " queue."
    ),
    "task_leased_to": (
        "{name} holds it by a lease until {until}, renewed by each heartbeat; after that the task waits for"
        " {name} to come back."
    ),
    "lease_ended": "It is addressed to {name}, and will be delivered again when {name} is back; or reassign it.",
    "agent_busy": "{name} is working on {numbers} in the meantime.",
    "task_checked": "{name} is checking it, until {until} at the latest.",
    "task_handed_in": ("It was submitted without naming a reviewer; whoever reviews it completes it."),
    "review_pending": "{name} was asked to review {artifact} for it at {at}, and has not answered.",
    "agent_stale": "It went silent at its work {since}: a person must decide what happens to that work.",
    "agent_holds_one": "It holds {count} task: {tasks}.",
    "agent_holds_other": "It holds {count} tasks: {tasks}.",
}
OF_LEASES = {
    "thing_counted": "There are {capacity} of {thing}, and {taken} are held.",
    "thing_held": (
        "{holder} has held {things}{host}{purpose} since {since}, until it releases that or goes silent."
    ),
    "thing_waiting_one": "{who} is waiting for it.",
    "thing_waiting_other": "{count} are waiting for it, in this order: {who}.",
    "thing_free": "Nobody holds {thing}: it is free.",
    "lease_held": "It has held {things}{host}{purpose} since {since}.",
    "lease_waiting": "It has been waiting for {things}{host}{purpose} since {since}{holders}{before}.",
    "lease_holders": ", which {who} holds",
    "lease_before": "; {who} asked before",
    "lease_on": " on {host}",
    "lease_for": " for {purpose}",
}
OF_PROOF = {
    "task_done_when": "It will count as completed when {demands}.",
    "task_unproven": "It does not count as completed until {lacks}.",
    "task_proven": "Everything that it requires was seen.",
    "task_waived": "{by} waived the proof that it requires{reason}.",
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
