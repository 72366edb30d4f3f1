"""Stories that broke a promise once, as small as they could be made. Each of these bugs has its own test as well.

What a step's number chooses depends on the moves there are: a story that means nothing any more may go.
"""

from simulate.play import Step, Story, play
from simulate.store import Fate


def test_seed_23() -> None:
    """`why` had nothing to say of a task that its sender had begun in Relay, and that needed others."""
    story = Story(
        23,
        ("block", "warn"),
        (
            Step("blue/cat", "relay.create_task", 259630),
            Step("blue/bob", "relay.create_task", 640677),
            Step("blue/cat", "commhub.send_task", 759332),
            Step("blue/bob", "relay.update_task", 66649),
        ),
    )
    assert play(story) is None


def test_seed_273() -> None:
    """A task passed on after its end counted as ended anew, and the tasks that needed it as ready from then on."""
    story = Story(
        273,
        ("warn", "block"),
        (
            Step("red/cat", "cmdop.issue_create", 664065),
            Step("blue/ann", "relay.create_task", 87606),
            Step("red/ann", "hub.send", 889478),
            Step("red/cat", "relay.update_task", 681512),
            Step("red/cat", "cmdop.issue_update", 235698),
        ),
    )
    assert play(story) is None


def test_seed_6294() -> None:
    """An agent could take a free task on a board before the tasks it needed were completed."""
    story = Story(
        6294,
        ("block", "block"),
        (
            Step("red/cat", "commhub.send_task", 545372),
            Step("red/ann", "relay.create_task", 168213),
            Step("-", "wait", 846694),
            Step("red/cat", "cmdop.issue_update", 235631, beside=True),
        ),
    )
    assert play(story) is None


def test_seed_91() -> None:
    """The hub's end of a line stayed open for ever, once its frames were lost and then the machine left it behind."""
    story = Story(
        91,
        ("warn", "off"),
        (
            Step("-", "line", 72732),
            Step("red/bob", "order", 38007),
            Step("-", "line", 657871),
            Step("-", "machine", 317833),
        ),
        machine=True,
    )
    assert play(story) is None


def test_seed_5100013() -> None:
    """The log did not tell that a report of completion had ended what an agent that was gone was doing."""
    story = Story(
        5100013,
        ("block", "block"),
        (
            Step("blue/bob", "relay.create_task", 93904),
            Step("blue/bob", "hub.send", 751604),
            Step("-", "wait", 285999),
            Step("red/bob", "golemxv.heartbeat", 229892),
            Step("blue/bob", "commhub.report_completion", 166812),
        ),
    )
    assert play(story) is None


def test_seed_6001532() -> None:
    """The promise, and not the hub, was wrong: work came back to an agent in the moment in which it was gone."""
    story = Story(
        6001532,
        ("block", "off"),
        (
            Step("red/ann", "cmdop.issue_create", 74083),
            Step("red/cat", "hub.join", 945718),
            Step("red/cat", "hold", 963334, Fate.KILLED, beside=True),
            Step("red/cat", "commhub.report_status", 714760),
            Step("red/cat", "cmdop.issue_update", 665103),
            Step("-", "wait", 43767),
            Step("-", "upkeep", 338495),
            Step("red/eve", "steer", 816309, beside=True),
        ),
    )
    assert play(story) is None
