"""The checker of histories: it finds every kind of mistake, and none where there is none."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hubbub.prove import check_history
from hubbub.prove.check_history import findings, read
from hubbub.prove.history import History

Line = dict[str, Any]

# What two agents did without a mistake: each call with when it was asked and told.
HONEST = (
    (1, 2, "yes", {"call": "s1", "do": "send", "who": "a", "to": "b", "text": "one"}),
    (3, 4, "yes", {"call": "s2", "do": "send", "who": "a", "to": "b", "text": "two"}),
    (3, 4, "no", {"call": "s3", "do": "send", "who": "a", "to": "b", "text": "refused"}),
    (3, 9, "unknown", {"call": "s4", "do": "send", "who": "a", "to": "b", "text": "perhaps"}),
    (5, 6, "yes", {"call": "l1", "do": "look", "who": "b", "texts": ["one", "two"], "whole": True}),
    (7, 8, "yes", {"call": "k1", "do": "ack", "who": "b", "texts": ["one"]}),
    (9, 10, "yes", {"call": "l2", "do": "look", "who": "b", "texts": ["two", "perhaps"], "whole": True}),
    (1, 2, "yes", {"call": "t1", "do": "take", "who": "a", "thing": "db", "fence": 1, "lasts": 100}),
    (5, 6, "yes", {"call": "g1", "do": "give", "who": "a", "thing": "db"}),
    (4, 7, "yes", {"call": "t2", "do": "take", "who": "b", "thing": "db", "fence": 2, "lasts": 100}),
    (1, 2, "yes", {"call": "f0", "do": "offer", "who": "a", "text": "task"}),
    (3, 4, "yes", {"call": "t3", "do": "take", "who": "b", "thing": "task"}),
    (5, 6, "yes", {"call": "f1", "do": "finish", "who": "b", "thing": "task"}),
    (1, 2, "yes", {"call": "o1", "do": "order", "who": "a", "mark": "x"}),
    (1, 2, "no", {"call": "o2", "do": "order", "who": "a", "mark": "y"}),
)
KEPT = ["one", "two", "perhaps", "task"]


def history(change: Mapping[str, Line], kept: list[str], marks: list[str], *more: Line) -> Iterator[str]:
    """The lines of the honest history with some calls changed, with others in the end."""
    for asked, told, answer, facts in HONEST:
        call: Line = {
            "asked": asked,
            "told": told,
            "answer": answer,
            **facts,
            **change.get(str(facts["call"]), {}),
        }
        answered = {
            name: call.pop(name)
            for name in ("texts", "whole", "fence", "shows")
            if name in call and call["do"] != "ack"
        }
        at, then, said = call.pop("asked"), call.pop("told"), call.pop("answer")
        yield json.dumps({"at": at, **call})
        yield json.dumps({"call": call["call"], "at": then, "answer": said, **answered})
    yield from map(json.dumps, ({"kept": kept, "marks": marks}, *more))


def told(
    change: Mapping[str, Line], kept: list[str] = KEPT, marks: list[str] | None = None, *more: Line
) -> list[str]:
    return [*findings(*read(history(change, kept, marks if marks is not None else ["x"], *more)))]


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    """A history without a mistake has no findings, whatever came of what nobody knows."""
    assert told({}) == []
    assert told({"l2": {"texts": ["two"]}}, kept=["one", "two", "task"]) == []


MISTAKES: dict[str, tuple[Mapping[str, Line], list[str], list[str] | None, tuple[Line, ...]]] = {
    "lost: two": ({"l1": {"whole": False}}, ["one", "perhaps", "task"], None, ()),
    "lost: task": ({}, ["one", "two", "perhaps"], None, ()),
    "lost: x": ({}, KEPT, [], ()),
    "doubled: two was sent": ({}, [*KEPT, "two"], None, ()),
    "doubled: x was ordered": ({}, KEPT, ["x", "x"], ()),
    "doubled: two lies": ({"l1": {"texts": ["one", "two", "two"]}}, KEPT, None, ()),
    "refused, and there: refused": ({}, [*KEPT, "refused"], None, ()),
    "refused, and there: y": ({}, KEPT, ["x", "y"], ()),
    "from nowhere: strange": ({}, [*KEPT, "strange"], None, ()),
    "from nowhere: l1 was told strange": ({"l1": {"texts": ["one", "two", "strange"]}}, KEPT, None, ()),
    "from nowhere: l1 was told one": ({"s1": {"to": "c"}}, KEPT, None, ()),
    "came back: one": ({"l2": {"texts": ["one", "two"]}}, KEPT, None, ()),
    "stale: l1 was not told one": ({"l1": {"texts": ["two"]}}, KEPT, None, ()),
    "never came: one": ({"l1": {"texts": ["two"], "whole": False}}, KEPT, None, ()),
    "reordered: l1": ({"l1": {"texts": ["two", "one"]}}, KEPT, None, ()),
    "overlap: b took db": ({"g1": {"asked": 8, "told": 9}}, KEPT, None, ()),
    "fence: t2": ({"t1": {"fence": 2}, "g1": {"asked": 3, "told": 3.5}}, KEPT, None, ()),
    "done twice: task": ({"g1": {"do": "finish", "who": "b", "thing": "task"}, "t2": {"answer": "no"}}, KEPT, None, ()),
    "done by another: task": ({"f1": {"who": "a"}}, KEPT, None, ()),
    "taken when it was over: task": ({"t3": {"asked": 7, "told": 8}}, KEPT, None, ()),
    "broken: 500": ({}, KEPT, None, ({"broken": ["500"]},)),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_kind_of_mistake_is_found(mistake: str) -> None:
    """One mistake planted in a history is found, and told as what it is."""
    change, kept, marks, more = MISTAKES[mistake]
    assert [each for each in told(change, kept, marks, *more) if each.startswith(mistake)]


# Work that b acknowledged, and what b was told when b had come again.
WORK: dict[str, Line] = {
    "s1": {"work": True},
    "g1": {"do": "come", "who": "b", "asked": 8.2, "told": 8.8},
    "t2": {"answer": "no"},
}


def work(*texts: str, **change: Line) -> list[str]:
    """What is found where b is told these texts at last, of the kinds that tell of an inbox."""
    changed = {**WORK, "l2": {"texts": [*texts]}, **change}
    return [
        each.partition(":")[0]
        for each in told(changed)
        if each.partition(":")[0] in ("came back", "reordered")
    ]


def test_work_comes_again_to_its_returned_holder() -> None:
    """Work that an agent had acknowledged may come again once the agent has come again, behind what came meanwhile."""
    assert work("two", "perhaps", "one") == []
    assert work("two", "perhaps") == []


@pytest.mark.parametrize(
    "change",
    [
        {"s1": {}},
        {"g1": {**WORK["g1"], "who": "a"}},
        {"g1": {**WORK["g1"], "asked": 6.2, "told": 6.8}},
        {"g1": {**WORK["g1"], "asked": 10.5, "told": 11}},
        {"g1": {**WORK["g1"], "answer": "no"}},
        {"g1": {**WORK["g1"], "do": "give", "thing": "db"}},
    ],
    ids=["no work", "another came", "before it was held", "after the look", "refused", "nobody came"],
)  # fmt: skip
def test_nothing_else_comes_again(change: dict[str, Line]) -> None:
    """A letter that is no work, or whose holder did not come after the acknowledgement, does not come again."""
    assert work("two", "perhaps", "one", **change) == ["came back"]


ACKED: dict[str, Line] = {
    "o2": {"do": "ack", "who": "b", "texts": ["one"], "asked": 8.9, "told": 8.95, "answer": "yes"}
}
UNSEEN: dict[str, Line] = {"o2": {**ACKED["o2"], "shows": False}}
PERHAPS: dict[str, Line] = {
    "o1": {"do": "give", "who": "b", "thing": "db", "asked": 8.6, "told": 20, "answer": "unknown"}
}
UNHEARD: dict[str, Line] = {"g1": {**WORK["g1"], "answer": "unknown", "told": float("inf")}}


def test_work_comes_again_once_for_each_coming() -> None:
    """Work that was acknowledged again since its holder came does not come a second time, even if nobody knows when
    that coming counted; nor does one before the work was held, or a second one before it was acknowledged again.
    """
    earlier: dict[str, Line] = {"o1": {**WORK["g1"], "asked": 6.2, "told": 6.8}}
    twice: dict[str, Line] = {"o1": {**WORK["g1"], "asked": 8.85, "told": 8.88}}

    assert work("two", "perhaps", "one", **ACKED) == ["came back"]
    assert work("two", "perhaps", "one", **UNHEARD) == []
    assert work("two", "perhaps", "one", **UNHEARD, **ACKED) == ["came back"]
    assert work("two", "perhaps", "one", **UNHEARD, **ACKED, **earlier) == ["came back"]
    assert work("two", "perhaps", "one", **ACKED, **twice) == ["came back"]


def test_work_comes_again_to_an_agent_that_counted_as_gone() -> None:
    """Where a clock was set on, at a moment of which only the bounds may be known, or an agent was silent for long, it
    may come until the next call that shows it; a death makes nobody come, and who counted as gone twice came once if no
    call between may have shown it.
    """
    nobody: Line = {"g1": {}}
    gone: Line = {"gone": ["b"], "at": 8.5}

    def again(change: dict[str, Line], *more: Line) -> list[str]:
        changed = {**WORK, **nobody, "l2": {"texts": ["two", "perhaps", "one"]}, **change}
        return [each for each in told(changed, KEPT, None, *more) if each.startswith("came back")]

    assert again({}, {**gone, "absent": True}) == []
    assert again({"l2": {"texts": ["two", "perhaps", "one"], "asked": 130, "told": 131}}) == []
    assert again({}, gone) != []
    assert again({}, {**gone, "absent": True, "gone": ["a"]}) != []
    assert again({}, {**gone, "absent": True, "at": 3.5}) != []
    unshown: dict[str, Line] = {name: {"shows": False} for name in ("l1", "t2", "f1")}
    assert again(unshown, {**gone, "absent": True, "at": 3.5}) == []
    assert again({}, {**gone, "absent": True, "at": 3.5, "since": 3.4}) != []
    assert again({}, {**gone, "absent": True, "at": 10.5}) != []
    assert again({}, {**gone, "absent": True, "at": 10.5, "since": 8.5}) == []
    assert again(UNSEEN, {**gone, "absent": True}, {**gone, "absent": True, "at": 8.97}) != []
    assert again({**UNSEEN, **PERHAPS}, {**gone, "absent": True}, {**gone, "absent": True, "at": 8.97}) == []


def test_an_unanswered_call_may_have_shown_an_agent_that_no_answer_shows() -> None:
    """Work may come again between unanswered calls, which may have been heard; after the last of them, nobody came."""
    hidden: dict[str, Line] = {name: {"shows": False} for name in ("l1", "k1", "t2", "t3", "f1")}
    look: dict[str, Line] = {
        "l2": {"texts": ["two", "perhaps", "one"], "shows": False, "asked": 139, "told": 140}
    }
    first, second = (
        {name: {"do": "give", "who": "b", "thing": "db", "asked": at, "told": 200, "answer": "unknown"}}
        for name, at in (("o1", 8.6), ("o2", 130))
    )

    def again(*changes: dict[str, Line]) -> list[str]:
        changed = {name: line for each in (WORK, hidden, look, *changes) for name, line in each.items()}
        return [each for each in told({**changed, "g1": {}}) if each.startswith("came back")]

    assert again() != []
    assert again(first) != []
    assert again(first, second) == []


def test_work_that_was_offered_to_everybody_comes_again_to_its_taker() -> None:
    """Offered work that an agent took, or may have taken, may come to its inbox once the agent comes again."""
    offered: dict[str, Line] = {"f1": {"answer": "unknown"}, "t3": {"answer": "unknown"}}
    seen: dict[str, Line] = {"l2": {"texts": ["two", "perhaps", "task"], "whole": True}}
    came = {"g1": WORK["g1"], "t2": {"answer": "no"}}

    assert told({**offered, **seen, **came}) == []
    assert told({**seen, **came}) == []
    assert told({**offered, **seen})[0].startswith("came back")
    assert told({**offered, **seen, **came, "t3": {"answer": "no"}})[0].startswith("from nowhere")


def test_work_that_comes_again_keeps_the_order() -> None:
    """Work that comes again does not stand before a letter that had come earlier."""
    assert work("one", "two", "perhaps") == ["reordered"]


def test_nobody_relies_on_what_the_dead_hold() -> None:
    """Where an agent was killed, another may take what it had, and its time may run out."""
    late = {"g1": {"asked": 8, "told": 9}}
    assert told(late, KEPT, None, {"gone": ["a"], "at": 3.5}) == []
    assert told({**late, "t1": {"lasts": 2}}) == []


def test_a_history_survives_its_writer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line that a kill has torn is no line, the next program goes on behind it, and its call has no answer."""
    file = tmp_path / "worker.jsonl"
    first = History(file)
    call = first.asked("send", "a", to="b", text="x")
    first.close()
    file.write_text(file.read_text() + '{"call": "torn", "do": "se')
    second = History(file)
    second.told(second.asked("look", "b"), "yes", texts=["x"], whole=True)
    second.note(kept=["x"])
    second.close()

    assert check_history.main([str(file)]) == 0
    assert capsys.readouterr().out == "2 calls (1 look yes, 1 send unknown): 0 findings\n"
    assert call in file.read_text()


def test_the_checker_knows_nothing_of_the_product() -> None:
    """Anybody can read the checker: one file, which imports the standard library alone."""
    source = Path(check_history.__file__).read_text("utf-8")
    assert not re.findall(r"^(?:from|import) (?:hubbub|tests|\.)", source, re.MULTILINE)
