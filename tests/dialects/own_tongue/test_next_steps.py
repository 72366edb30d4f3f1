"""Words that spare an agent of the hub's own tools a dead end: what is meant, what goes along, what it may do."""

from tests.dialects.own_tongue.team import Team


def test_what_the_old_holder_knows_goes_along(team: Team) -> None:
    """The text of a reassignment reaches the new holder with the task, and both it and the last note are kept."""
    ember, _cid = team.joined("ember"), team.joined("cid")
    ref = team.work(to="ember")
    ember.task(action="start", task=ref)
    ember.task(action="progress", task=ref, text="verse 1 is done")
    lead = team.agent("lead")
    lead.task(action="reassign", task=ref, to="cid")
    assert lead.task(action="show", task=ref)["task"]["note"] == "verse 1 is done"

    lead.task(action="reassign", task=ref, to="ember", text="verse 1 is in branch latin")
    (told,) = [each for each in team.mail("ember") if each.get("reply_to") == ref and each["text"][0] == "v"]
    assert (told["from"], told["text"]) == ("lead", "verse 1 is in branch latin")
    shown = lead.task(action="show", task=ref)["task"]
    assert shown["note"] == "verse 1 is in branch latin"
    assert "verse 1 is in branch latin" in [each["text"] for each in shown["said"]]
    assert "verse 1 is in branch latin" in [each["text"] for each in lead.inbox(about=ref)["history"]]
    (line,) = [
        each for each in team.log() if each["kind"] == "task.reassigned" and "reason" in each["detail"]
    ]
    assert line["detail"]["reason"] == "verse 1 is in branch latin"


def test_an_id_of_another_kind_is_named(anywhere: Team) -> None:
    """Who gives a message's id for a task's is told which task the message is about."""
    ember = anywhere.joined("ember")
    ref = anywhere.work(to="ember")
    asked = ember.send(reply_to=ref, text="which?")["id"]
    refused = ember.wrong("task", action="show", task=asked)
    assert refused["message"] == f"'{asked}' is a message about {ref}; give the id of a task, such as T-4"
    history = ember.inbox(about=asked)["history"]
    assert [each["text"] for each in history] == ["which?"]


def test_an_answer_says_what_it_answers(anywhere: Team) -> None:
    """A bare number could be a message or a task, so an answer to it is refused, and reaches no stranger."""
    ember, stranger = anywhere.joined("ember"), anywhere.joined("stranger")
    stranger.send(to="stranger", text="mine")
    anywhere.work(to="ember")
    with anywhere.unchanged():
        for ref in ("#1", "1"):
            refused = ember.wrong("send", reply_to=ref, text="which?")
            assert refused["message"] == (
                f"reply_to: '{ref}' could be the message M-1 or the task T-1: say which"
            )
    assert ember.send(reply_to="T-1", text="which?")["to"] == "lead"


def test_a_refusal_says_what_the_caller_may_do(anywhere: Team) -> None:
    """Its sender, its holder and a stranger each hear what they themselves may do to a task."""
    ember, rhea = anywhere.joined("ember"), anywhere.joined("rhea")
    ref = anywhere.work(to="ember")
    lead = anywhere.agent("lead")
    ember.task(action="start", task=ref)
    assert lead.wrong("task", action="retry", task=ref)["message"] == (
        "the task is working, which does not let you retry it; possible now: cancel, reassign"
    )
    assert lead.wrong("task", action="complete", task=ref, text="x")["message"] == (
        "the task is assigned to 'ember'; possible now: cancel, reassign"
    )
    assert rhea.wrong("task", action="claim", task=ref)["message"] == (
        "the task is assigned to 'ember'; possible now: nothing but a comment"
    )
    ember.task(action="submit", task=ref, text="look")
    assert lead.wrong("task", action="retry", task=ref)["message"].endswith(
        "possible now: cancel, reassign, approve, revise"
    )


def test_an_artifact_is_named_as_artifact_too(anywhere: Team) -> None:
    """A name is taken where an artifact's id is expected, and a second verdict is told of the first."""
    ember, ada = anywhere.joined("ember"), anywhere.joined("ada")
    ada.share(action="post", name="plan", text="first this")
    ada.share(action="review", artifact="plan", to="ember")
    ember.share(action="verdict", artifact="plan", verdict="approved")
    refused = ember.wrong("share", action="verdict", artifact="A-1", verdict="approved")
    assert refused["message"] == "you gave your verdict on A-1 already: approved; another review asks again"
    assert ember.wrong("share", action="read", artifact="plans")["message"] == "there is no artifact 'plans'"


def test_a_refused_completion_without_hooks_says_who_completes_it(anywhere: Team) -> None:
    """Where no hook saw any work, the agent hears that a person may complete the task all the same."""
    ember = anywhere.joined("ember")
    ref = anywhere.work(to="ember", done_when=["clean"])
    assert ember.wrong("task", action="complete", task=ref, text="done")["message"] == (
        "the task is not done yet: clean (not seen): no hook saw any work on it; "
        "where no hooks run, only a person completes it"
    )
