"""Which branches git has to compare."""

from dataclasses import replace

import pytest

from hubbub.model.agents.merges import BranchHead, goes_first, meet
from hubbub.model.ids import new_id

ONE = BranchHead(
    project_id=new_id(), repository="github.com/octo/parser", agent="ann", branch="a", head="1" * 40, tree="2" * 40,
    paths=(), emptied=(), host=None, told_at=1,
)  # fmt: skip


@pytest.mark.parametrize(
    ("mine", "theirs", "emptied", "does"),
    [
        (("src/a.py",), ("src/a.py", "src/b.py"), (), True),
        (("src/a.py",), ("src/b.py",), (), False),
        (("src/a",), ("src/a/b.py",), (), True),  # a file where the other has a folder
        (("new/x.py",), ("lib/y.py", "old/y.py"), ("old",), False),
        (("old/x.py",), ("lib/y.py", "old/y.py"), ("old",), True),  # git follows a folder that was renamed
        (("src/abc",), ("src/ab",), ("src/ab",), False),
    ],
)
def test_where_two_branches_meet(
    mine: tuple[str, ...], theirs: tuple[str, ...], emptied: tuple[str, ...], *, does: bool
) -> None:
    """Two branches meet in a file of both, where one has a file and the other a folder, and in a renamed folder."""
    one, other = replace(ONE, paths=mine), replace(ONE, agent="bob", paths=theirs, emptied=emptied)
    assert meet(one, other) is does
    assert meet(other, one) is does


def test_the_order_to_merge_in() -> None:
    """The branch that changes fewer files is merged first, of two alike the older."""
    large, small = replace(ONE, paths=("a", "b")), replace(ONE, agent="bob", paths=("a",), told_at=9)
    assert goes_first(large, small) is goes_first(small, large) is small
    assert goes_first(replace(small, told_at=3), small).told_at == 3
