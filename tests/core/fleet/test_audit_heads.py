"""Lengths of audit logs, and the claims about them that cannot be true."""

from datetime import timedelta

import pytest

from hubbub.core import expiry
from hubbub.core.fleet import audit_heads
from hubbub.model.errors import Conflict, Invalid
from hubbub.model.fleet.nodes import AuditHead
from tests.core.conftest import RACERS, World, errors_of, on_one_engine


def sealed(world: World, seq: int, digest: str, node: str = "box") -> bool:
    return world.do(audit_heads.keep, world.project, node, seq, digest * 64)


def heads(world: World, node: str | None = None) -> list[AuditHead]:
    return world.do(audit_heads.heads, world.project, node=node, limit=100)


def test_a_log_grows(world: World) -> None:
    """Every head is kept, of each machine the farthest first; told twice it is kept once."""
    for seq, digest in ((1, "a"), (5, "b"), (5, "b"), (9, "c")):
        assert sealed(world, seq, digest)
    assert sealed(world, 2, "d", node="other")
    assert [(each.node, each.seq, each.hash[0]) for each in heads(world)] == [
        ("other", 2, "d"),
        ("box", 9, "c"),
        ("box", 5, "b"),
        ("box", 1, "a"),
    ]
    assert [each.seq for each in heads(world, "other")] == [2]
    assert heads(world.elsewhere("elsewhere")) == []


def test_a_line_that_says_something_else_is_broken(world: World) -> None:
    """A head that was told with another hash is refused, and told in the log, once."""
    sealed(world, 5, "a")
    assert not sealed(world, 5, "b")
    assert not sealed(world, 5, "b")
    assert sealed(world, 5, "a")
    (told,) = [each for each in world.log() if each.kind == "audit.broken"]
    assert (told.detail["node"], told.detail["seq"], told.detail["known"]) == ("box", 5, ["a" * 64])
    assert [each.is_broken for each in heads(world)] == [True, False]


def test_a_log_that_was_cut_short_is_broken(world: World) -> None:
    """A head behind what was known some minutes ago is refused: a log does not get shorter."""
    sealed(world, 9, "a")
    world.clock.advance(audit_heads.LATE + timedelta(seconds=1))
    assert not sealed(world, 4, "b")
    assert world.kinds()[-1] == "audit.broken"
    assert sealed(world, 10, "c")


def test_programs_that_write_one_log_may_cross_on_the_way(world: World) -> None:
    """A report that comes a moment late, by another program that writes the same log, is kept."""
    sealed(world, 9, "a")
    assert sealed(world, 8, "b")
    assert "audit.broken" not in world.kinds()


def test_of_two_stories_at_once_one_is_broken_or_both_are_known(world: World) -> None:
    """However many tell of one line at once, every story is kept, so that whoever checks the log finds it."""
    outcomes = world.race(
        *[lambda tx, digest=digest: audit_heads.keep(tx, world.project, "box", 5, digest * 64)
          for digest in "abcdef01"[:RACERS]]
    )  # fmt: skip
    assert errors_of(outcomes) == []
    assert {each.hash[0] for each in heads(world)} == set("abcdef01"[:RACERS])


@on_one_engine
@pytest.mark.parametrize(
    ("node", "seq", "digest"),
    [("", 1, "a" * 64), ("box", 0, "a" * 64), ("box", 1, "a"), ("box", 1, "G" * 64)],
)
def test_what_is_no_head_is_refused(world: World, node: str, seq: int, digest: str) -> None:
    """A head has a machine, a line and a hash."""
    with pytest.raises(Invalid):
        world.do(audit_heads.keep, world.project, node, seq, digest)


def test_old_heads_are_forgotten(world: World) -> None:
    """Heads are kept for more than a year."""
    sealed(world, 1, "a")
    world.clock.advance(audit_heads.KEEP + timedelta(days=1))
    sealed(world, 2, "b")
    world.do(expiry.forget)
    assert [each.seq for each in heads(world)] == [2]


def test_no_log_runs_away(world: World) -> None:
    """A head that is far ahead of what is known is refused, so that none can be told that makes all true ones false."""
    with pytest.raises(Invalid, match="a log has at most 1,000,000,000 lines when it is first told of"):
        sealed(world, audit_heads.LAST, "a")
    assert sealed(world, 5, "b")
    with pytest.raises(Invalid, match="a log grows by at most 1,000,000 lines between two heads"):
        sealed(world, audit_heads.FASTEST + 6, "c")
    assert [each.seq for each in heads(world)] == [5]


def test_a_long_log_may_be_new_to_the_hub(world: World) -> None:
    """The first head may be of any log that there can be; after days of silence it may have grown for days."""
    assert sealed(world, 50 * audit_heads.FASTEST, "a")
    world.clock.advance(timedelta(days=2))
    assert sealed(world, 53 * audit_heads.FASTEST, "b")
    with pytest.raises(Invalid):
        sealed(world, 55 * audit_heads.FASTEST, "c")


def beside(world: World, who: str, name: str, seq: int, digest: str) -> bool:
    return world.do(audit_heads.keep_beside, world.project, who, name, seq=seq, digest=digest * 64)


def test_what_programs_tell_is_kept_apart(world: World) -> None:
    """One agent's reports under a name break neither another's log of that name nor a machine's own."""
    sealed(world, 3, "a", node="laptop")
    beside(world, "eve", "laptop", 900, "e")
    world.clock.advance(2 * audit_heads.LATE)
    assert beside(world, "ann", "laptop", 5, "b")
    assert sealed(world, 4, "c", node="laptop")
    assert not beside(world, "eve", "laptop", 7, "f")
    found = {(each.node, each.seq) for each in heads(world, "laptop") if not each.is_broken}
    assert found == {("laptop", 3), ("laptop", 4), ("ann@laptop", 5), ("eve@laptop", 900)}


@on_one_engine
def test_a_program_tells_of_some_machines_some_times(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many names and heads are kept for one agent's programs is bounded, for each apart, and said."""
    monkeypatch.setattr(audit_heads, "MOST_NAMES", 2)
    monkeypatch.setattr(audit_heads, "MOST_A_DAY", 3)
    for name in ("one", "two"):
        assert beside(world, "ann", name, 1, "a")
    with pytest.raises(Conflict, match="programs beside 'ann' tell of 2 machines already"):
        beside(world, "ann", "three", 1, "a")
    assert beside(world, "bob", "three", 1, "a")
    assert beside(world, "ann", "one", 2, "b")
    assert beside(world, "ann", "one", 3, "c")
    with pytest.raises(Conflict, match="have told 3 heads of 'one' in a day"):
        beside(world, "ann", "one", 4, "d")
    world.clock.advance(audit_heads.DAY + timedelta(seconds=1))
    assert beside(world, "ann", "one", 4, "d")
