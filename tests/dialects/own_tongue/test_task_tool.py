"""`task` and `board`: work."""

from hubbub.model.people.rights import Role
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.own_tongue.requirements import requires
from tests.dialects.own_tongue.team import Team

MISSING: list[tuple[dict[str, object], str]] = [
    ({"action": "show"}, "task"),
    ({"action": "block", "task": "T-1"}, "text"),
    ({"action": "fail", "task": "T-1"}, "text"),
    ({"action": "complete", "task": "T-1", "text": "  "}, "text"),
    ({"action": "comment", "task": "T-1"}, "text"),
    ({"action": "describe", "task": "T-1"}, "text"),
    ({"action": "revise", "task": "T-1"}, "text"),
    ({"action": "reassign", "task": "T-1"}, "to"),
    ({"action": "progress", "task": "T-1"}, "progress"),
]


@requires("task.claim")
@both_engines
def test_of_several_one_gets_it(team: Team) -> None:
    """When many claim a task at once one of them has it, and the others are told who."""
    ref = team.work()
    agents = [team.joined(f"agent-{number}") for number in range(6)]
    waiting = [each.soon("task", action="claim", task=ref) for each in agents]
    answers = [each() for each in waiting]
    won = [each for each in answers if "error" not in each]
    assert [each["status"] for each in won] == ["accepted"]
    assert {each["error"] for each in answers if each not in won} == {"not_holder"}
    assert team.task(ref).assignee == won[0]["to"]


@requires("task.next")
@both_engines
def test_the_next_task(team: Team) -> None:
    """A claim without a task gets the most urgent one that is free and waits for nothing, each another one."""
    team.work("low", priority="low")
    for _ in range(30):
        team.work("held", priority="critical", needs=["T-1"])
    team.work("his", priority="critical", to="lead")
    team.work("high", priority="high")
    ember, ada = team.joined("ember"), team.joined("ada")

    taken = [each() for each in [each.soon("task", action="claim") for each in (ember, ada)]]
    assert sorted(each["text"] for each in taken) == ["high", "low"]
    assert ember.wrong("task", action="claim")["error"] == "unavailable"


@requires("task.life")
@both_engines
def test_a_task_lives(team: Team) -> None:
    """Its holder says how far it is, and every step is answered by its status."""
    ref = team.work()
    ember = team.joined("ember")

    def do(action: str, **said: object) -> str:
        return str(ember.task(action=action, task=ref, **said)["status"])

    assert do("claim") == "accepted"
    assert do("start") == "working"
    assert do("block", text="no water") == "blocked"
    assert do("start") == "working"
    assert do("submit") == "in_review"
    assert do("start") == "working"
    assert do("complete", text="they were dry") == "completed"
    assert ember.wrong("task", action="start", task=ref)["error"] == "invalid_transition"


@requires("task.life")
def test_a_task_can_be_started_at_once(team: Team) -> None:
    """To begin a free task is to claim it; one that was in the inbox is acknowledged by that."""
    free, mine = team.work(), team.work(to="lead")
    assert team.joined("ember").task(action="start", task=free) == {
        "id": "T-1", "status": "working", "to": "ember", "title": "water the plants", "text": "water the plants",
    }  # fmt: skip
    team.agent("lead").task(action="start", task=mine)
    assert team.mail("lead") == []


@requires("task.life")
def test_a_text_is_told_to_who_takes_the_task(team: Team) -> None:
    """A claim has the whole text, which may be long; what its holder does and reports after that has not."""
    ref, ember = team.work(), team.joined("ember")
    assert ember.task(action="claim", task=ref)["text"] == "water the plants"
    assert "text" not in ember.task(action="start", task=ref)
    assert "text" not in ember.task(action="progress", task=ref, progress=40)
    assert ember.task(action="show", task=ref)["task"]["text"] == "water the plants"


@requires("task.life")
def test_the_board_tells_what_was_asked_for(team: Team) -> None:
    """An id finds its task in any status; counts are of everything; an assignee that nobody is called is refused."""
    ref, ember = team.work(), team.joined("ember")
    ember.task(action="start", task=ref)
    assert ember.board()["counts"] == {"working": 1}
    assert "counts" not in ember.board(to="ember")
    ember.task(action="complete", task=ref, text="done")
    assert [each["id"] for each in ember.board(find=ref)["tasks"]] == [ref]
    assert ember.board(find="plants")["tasks"] == ember.board(to="ember")["tasks"] == []
    assert ember.wrong("board", to="embers")["near"] == ["ember"]


@requires("task.proof")
def test_done_with_proof(team: Team) -> None:
    """The sender gets the result with what shows it; the task keeps it, with the files that were changed."""
    ref = team.work()
    ember = team.joined("ember")
    ember.task(action="start", task=ref)
    assert (
        ember.wrong("task", action="complete", task=ref)["message"] == "text is missing: say what came of it"
    )
    ember.task(action="complete", task=ref, text="They bloom.", proof="12 of 12 tests", files=["garden.py"])

    task = team.task(ref)
    assert (task.result, task.files) == ("They bloom.\n\nProof: 12 of 12 tests", ("garden.py",))
    (letter,) = team.mail("lead")
    assert (letter["text"], letter["reply_to"], letter["outcome"]) == (task.result, ref, "completed")


@requires("send.task_asks")
def test_work_that_asks_for_proof(team: Team) -> None:
    """A sender names the proof of a task; its assignee is told, and cannot complete it by words."""
    ref = team.work(done_when=["commit", "ran make lint"])
    ember, asked = team.joined("ember"), [
        "a commit was made for it",
        "`make lint`, run by itself after the last change, passed",
    ]  # fmt: skip
    assert ember.task(action="show", task=ref)["task"]["done_when"] == asked
    assert ember.task(action="claim", task=ref)["done_when"] == asked
    refused = ember.wrong("task", action="complete", task=ref, text="Done.")
    assert (refused["error"], "commit (not seen)" in refused["message"]) == ("unproven", True)
    assert ember.wrong("send", text="x", kind="task", done_when=["tidy"])["error"] == "invalid"


@requires("task.fail")
def test_failing(team: Team) -> None:
    """An agent that has a task may say that it cannot be done, and why; the sender hears it."""
    ref = team.work(to="lead")
    ember = team.joined("ember")
    assert ember.wrong("task", action="fail", task=ref, text="x")["error"] == "not_holder"
    assert team.agent("lead").task(action="fail", task=ref, text="no water")["status"] == "failed"
    assert team.task(ref).result == "no water"


@requires("task.cancel")
def test_cancelling_and_trying_again(team: Team) -> None:
    """A task that is not wanted any more ends, its holder hears of it, and it can be tried again."""
    ref = team.work()
    ember = team.joined("ember")
    ember.task(action="start", task=ref)
    assert team.agent("lead").task(action="cancel", task=ref, text="too late")["status"] == "cancelled"
    assert "too late" in team.mail("ember")[0]["text"]
    assert team.agent("lead").task(action="retry", task=ref)["status"] == "queued"
    assert team.agent("lead").wrong("task", action="retry", task=ref)["error"] == "invalid_transition"


@requires("task.hands")
@both_engines
def test_changing_hands(team: Team) -> None:
    """A task goes to another agent, or back to everyone."""
    ref = team.work()
    ember = team.joined("ember")
    team.joined("bob")
    ember.task(action="start", task=ref)
    assert ember.task(action="reassign", task=ref, to="bob") == {
        "id": "T-1", "status": "delivered", "to": "bob", "title": "water the plants",
    }  # fmt: skip
    assert team.agent("bob").task(action="release", task=ref)["status"] == "queued"
    assert team.task(ref).assignee is None
    assert ember.wrong("task", action="reassign", task=ref, to="nobody")["error"] == "unknown_agent"


@requires("task.holder")
def test_strangers_keep_off(anywhere: Team) -> None:
    """A task that somebody else works on is moved on by nobody else."""
    ref = anywhere.work()
    anywhere.joined("ember").task(action="start", task=ref)
    bob = anywhere.joined("bob")
    with every_row() as row, anywhere.unchanged():
        for action in ("start", "block", "submit", "complete", "fail", "progress", "release"):
            with row(action):
                refused = bob.wrong("task", action=action, task=ref, text="x", progress=5)
                assert refused["error"] == "not_holder"


@requires("task.talk")
def test_talking_about_a_task(team: Team) -> None:
    """A comment reaches whoever is at the other end; progress is in the log; a description is changed."""
    ref = team.work()
    ember = team.joined("ember")
    ember.task(action="start", task=ref)
    ember.task(action="comment", task=ref, text="which plants?")
    assert [each["text"] for each in team.mail("lead")] == ["which plants?"]
    ember.task(action="progress", task=ref, progress=40, text="half of them")
    team.agent("lead").task(action="describe", task=ref, text="water the roses")
    assert team.task(ref).description == "water the roses"
    noted = [each["detail"]["progress"] for each in team.log() if each["kind"] == "task.progress"]
    assert noted == [40]


@requires("task.review")
def test_what_was_handed_in(team: Team) -> None:
    """Somebody else looks at it: sends it back with what to change, or approves it, and nobody their own work."""
    ref = team.work()
    ember, lead = team.joined("ember"), team.agent("lead")
    ember.task(action="start", task=ref)
    ember.task(action="submit", task=ref, text="wet now", proof="a photo")
    assert lead.inbox()["letters"][0]["text"] == "wet now\n\nProof: a photo"
    assert lead.task(action="revise", task=ref, text="the roses too")["status"] == "working"
    assert "the roses too" in team.mail("ember")[0]["text"]
    ember.task(action="submit", task=ref)
    assert ember.wrong("task", action="approve", task=ref)["error"] == "forbidden"
    assert lead.task(action="approve", task=ref)["status"] == "completed"


@requires("task.show")
def test_all_of_a_task(team: Team) -> None:
    """A task shows its text, what it waits for, how far it got with its receiver, and what was said."""
    team.joined("ember")
    team.work("first")
    ref = team.work("second\nwith more", to="ember", needs=["T-1"])
    team.agent("lead").task(action="comment", task=ref, text="soon")
    shown = team.agent("lead").task(action="show", task=ref)["task"]
    assert (shown["id"], shown["text"], shown["needs"]) == ("T-2", "second\nwith more", ["T-1 queued"])
    assert [each["text"] for each in shown["said"]] == ["soon"]
    assert "delivery" not in shown
    team.agent("lead").task(action="start", task="T-1")
    team.agent("lead").task(action="complete", task="T-1", text="done")
    delivery = team.agent("lead").task(action="show", task=ref)["task"]["delivery"]
    assert [(each["to"], each["state"]) for each in delivery] == [("ember", "stored")]


@requires("task.show")
def test_how_far_a_task_is(team: Team) -> None:
    """While somebody works on it a task has what they said last of how far they are; who begins anew has not begun."""
    ref = team.work()
    ember, lead = team.joined("ember"), team.agent("lead")

    def told() -> tuple[object, object]:
        shown = lead.task(action="show", task=ref)["task"]
        return shown.get("progress"), shown.get("note")

    ember.task(action="start", task=ref)
    assert told() == (None, None)
    ember.task(action="progress", task=ref, progress=40, text="40 done")
    assert told() == (40, "40 done")
    ember.task(action="progress", task=ref, text="nearly half")
    assert told() == (40, "nearly half")
    ember.task(action="progress", task=ref, progress=0)
    assert told() == (0, "nearly half")
    ember.task(action="release", task=ref)
    assert told()[0] is None
    team.later(seconds=1)
    ember.task(action="start", task=ref)
    assert told() == (None, None)


@requires("task.missing")
def test_what_an_action_needs(anywhere: Team) -> None:
    """Missing arguments are asked for by name."""
    anywhere.work(to="lead")
    with every_row() as row, anywhere.unchanged():
        for said, argument in MISSING:
            with row(said):
                refused = anywhere.agent("lead").wrong("task", **said)
                assert refused["message"].startswith(f"{argument} is missing: ")


@requires("task.missing")
def test_a_refused_step_says_what_is_possible(anywhere: Team) -> None:
    """A claim of what one holds, or of what has ended, says so, with what may be done instead."""
    ember, rhea = anywhere.joined("ember"), anywhere.joined("rhea")
    anywhere.work()
    ember.task(action="claim", task="T-1")
    with anywhere.unchanged():
        again = ember.wrong("task", action="claim", task="T-1")
        early = ember.wrong("task", action="retry", task="T-1")
    assert again == {
        "error": "invalid_transition",
        "message": "you hold it already, and it is accepted; start, progress or complete it",
    }
    assert early["message"] == (
        "the task is accepted, which does not let you retry it; "
        "possible now: start, block, complete, fail, cancel, release, reassign"
    )
    ember.task(action="complete", task="T-1", text="done")
    assert rhea.wrong("task", action="claim", task="T-1")["message"] == (
        "the task is assigned to 'ember', and has ended: it is completed"
    )
    assert ember.wrong("task", action="start", task="T-1")["message"] == (
        "the task is completed, which does not let you start it; possible now: nothing but a comment"
    )


def test_a_person_works_on_no_task(anywhere: Team) -> None:
    """People give work and steer it; to take some they would have to be an agent."""
    person = anywhere.person((anywhere.project, Role.MEMBER))
    assert person.send(text="water them", kind="task")["id"] == "T-1"
    told = (
        "the task cannot be claimed: only an agent works on one; "
        "reassign it to an agent, or join by an agent's name"
    )
    assert person.wrong("task", action="claim")["message"] == told
    assert person.task(action="cancel", task="T-1")["status"] == "cancelled"


@requires("board.open")
def test_the_board(team: Team) -> None:
    """It shows what is not done, newest first, with how many tasks are in each status."""
    at = team.hub.clock()
    team.work("one", area="auth")
    team.work("two", to="lead")
    team.work("three")
    team.agent("lead").task(action="cancel", task="T-3")
    board = team.joined("ember").board()
    assert board["tasks"] == [
        {
            "id": "T-2", "title": "two", "status": "delivered", "to": "lead", "from": "lead", "priority": "medium",
            "updated_at": at,
        },
        {
            "id": "T-1", "title": "one", "status": "queued", "from": "lead", "priority": "medium", "area": "auth",
            "updated_at": at,
        },
    ]  # fmt: skip
    assert board["counts"] == {"queued": 1, "delivered": 1, "cancelled": 1}


@requires("board.filter")
@both_engines
def test_finding_work(team: Team) -> None:
    """It is found by its words, its number, its status, whose it is, who sent it, and its area."""
    team.work("mend the fence", area="garden")
    team.work("mend the roof", to="lead", by="ada")
    team.joined("lead").task(action="cancel", task="T-1")
    ember = team.joined("ember")

    def found(**said: object) -> list[str]:
        return [each["id"] for each in ember.board(**said)["tasks"]]

    assert found(find="mend") == ["T-2"]
    assert found(find="MEND fence", status="ended") == ["T-1"]
    assert found(find="T-2") == ["T-2"]
    assert found(status="cancelled") == ["T-1"]
    assert (found(to="lead"), found(to="ada")) == (["T-2"], [])
    assert (found(sender="ada"), found(sender="lead")) == (["T-2"], [])
    assert (found(area="garden", status="ended"), found(area="garden")) == (["T-1"], [])


@requires("board.pages")
@both_engines
def test_pages(team: Team) -> None:
    """A page says where the next one begins, and together the pages are the whole."""
    for number in range(5):
        team.work(f"task {number}")
    ember, seen = team.joined("ember"), []
    cursor: dict[str, object] = {}
    for _ in range(3):
        page = ember.board(limit=2, **cursor)
        seen += [each["id"] for each in page["tasks"]]
        cursor = {"before": page["next"]} if "next" in page else {}
    assert seen == ["T-5", "T-4", "T-3", "T-2", "T-1"]
    assert cursor == {}
