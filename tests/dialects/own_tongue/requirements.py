"""What the page of the hub's own tongue promises, sentence by sentence."""

from tests.dialects.requirements import Requirements, Section

PAGE = "docs/dialects/hub.md"

HUB = Requirements("hub", {
    "all": Section(PAGE, {
        "eight": "there are eight tools, and their list takes at most 2,000 tokens in either vocabulary",
        "ids": "ids are short, M-9, T-4 and A-3; long ones are accepted too",
        "unread": "every reply counts unread mail while there is any",
        "refusal": "a refusal is an error, a code and one sentence",
        "unknown": "a value out of range is refused, and so is an unknown argument of a call that changes something",
        "meant": "that refusal names the argument that was probably meant, and task accepts id",
        "name": "a bound token says who calls; else join does, or the header X-Hubbub-Agent",
        "nameless": "where nothing says who calls, the call is refused",
        "key": "a call that is repeated with its key is done once",
        "roles": "a viewer reads what there is to read, and changes nothing",
    }),
    "join": Section(PAGE, {
        "standing": "join tells who one is, unread mail, tasks, scope, claims and who else is there",
        "short": "its reply stays under 300 tokens however large the team is, and whatever it writes",
        "status": "doing makes one working, an empty one idle, and a status says it outright",
        "scope": "area and files declare a scope, what is left out stays, and what is empty clears it",
        "conflicts": "it tells with whom the scope and the claims are in conflict",
        "offline": "with the status offline one leaves",
        "presence": "whoever calls is there for half an hour, and each call is a heartbeat",
        "same": "a presence that somebody else began goes on",
    }),
    "inbox": Section(PAGE, {
        "letters": "a letter has its id, kind, sender, text and the times of its delivery",
        "again": "a letter comes again until it is acknowledged",
        "ack": "ack takes ids, and all for what one has seen",
        "ack_task": "a task that is acknowledged is accepted",
        "ack_foreign": "a letter of somebody else cannot be acknowledged, and then none is",
        "wait": "wait sleeps until something new comes, and no longer than it says",
        "ack_first": "what is acknowledged in a call that waits is so from the beginning",
        "history": "history shows what was said, by pages, and how far each letter got",
        "about": "about narrows it to one message or task",
    }),
    "send": Section(PAGE, {
        "message": "a message goes to the agent that is named",
        "unknown": "an agent that was never seen is refused, with names much like it",
        "task": "a task goes to an agent, or without one into the open queue",
        "task_fields": "a task has a title, a priority, an area, a time to begin it and a parent",
        "needs": "a task that needs others is held back until they are completed",
        "reply": "a reply goes to whoever is at the other end of what it answers",
        "broadcast": "a broadcast goes to everyone who was ever there, but its sender",
        "kinds": "what does not go together is refused",
        "outlook": "the reply tells the state, what wakes the receiver, and whether it will likely look soon",
        "dead": "what nobody came to read is shown as dead",
    }),
    "task": Section(PAGE, {
        "claim": "of several who claim a task one gets it",
        "next": "claim without a task takes the most urgent free one, or is refused",
        "life": "a task is claimed, started, blocked, submitted and completed",
        "proof": "complete needs a text; the proof stands with it in the result, which its sender gets",
        "fail": "a task is failed by its holder, with the reason",
        "cancel": "a task is cancelled, and retried after that",
        "hands": "a task is reassigned, or released into the open queue",
        "holder": "who does not hold a task cannot go on with it",
        "talk": "a comment reaches the other end, progress is noted, and a description can be changed",
        "review": "what was submitted is approved or sent back by somebody else",
        "show": "show tells all of a task: its text, needs, delivery and what was said about it",
        "missing": "what an action needs and is not given is asked for in one sentence",
    }),
    "board": Section(PAGE, {
        "open": "the board shows open tasks, newest first, and how many there are in each status",
        "filter": "it is narrowed by words, status, assignee, sender and area",
        "pages": "a page tells where the next one begins",
    }),
    "files": Section(PAGE, {
        "claim": "files are claimed before they are edited, and the claim tells of conflicts",
        "check": "check tells of conflicts and changes nothing",
        "most": "more than an agent may hold is refused",
        "release": "release lets go of some, or of all",
        "block": "in a project that blocks conflicts a claim that meets another is refused",
        "list": "list shows who works where",
        "things": "things are claimed, checked, listed and released like files, all or none, without waiting",
    }),
    "share": Section(PAGE, {
        "artifact": "an artifact is posted, listed, and read by its id or its name",
        "review": "a review is asked for, and answered once by whoever was asked",
        "memory": "text is remembered under a name, added to, and recalled, for oneself or the project",
        "missing": "what an action needs and is not given is asked for in one sentence",
    }),
    "ask": Section(PAGE, {
        "machines": "without arguments it names the machines",
        "command": "a command is run on the machine that is named, if its gate lets it",
        "prompt": "a prompt is for the agent of the machine",
        "offline": "a machine that is not there is refused",
        "patience": "a person has as long as timeout says, and as the machine lets them",
        "no_agent": "a prompt for a machine that has no agent is refused before a person is asked",
        "arguments": "it takes a machine, and either a prompt or a command",
        "once": "with a key a machine does it once",
    }),
})  # fmt: skip

requires = HUB.requires
