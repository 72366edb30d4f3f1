import os
import subprocess
import sys

import pytest

from hubbub.node.system import kernel
from hubbub.node.system.kernel import IOCTL_DEVICE, READ, REFER, TRUNCATE, known_rights


@pytest.mark.parametrize(
    ("abi", "newer"),
    [(1, 0), (2, REFER), (3, REFER | TRUNCATE), (4, REFER | TRUNCATE), (5, REFER | TRUNCATE | IOCTL_DEVICE)],
)
def test_a_kernel_is_asked_for_what_it_knows(abi: int, newer: int) -> None:
    """Only the rights that the kernel knows are asked for: an older one refuses unknown ones."""
    assert known_rights(abi) == known_rights(1) | newer
    assert known_rights(1) & (REFER | TRUNCATE | IOCTL_DEVICE) == 0
    assert known_rights(1) & READ == READ


TAKES_ON = """
import sys
from hubbub.node.system.kernel import Ruleset
Ruleset(int(sys.argv[1]), ["/"], ["/"], [], [], True).take_on()
try:
    open(sys.argv[2], "w")
except PermissionError:
    print("refused")
"""


@pytest.mark.parametrize("abi", range(1, kernel.landlock_abi() + 1))
def test_the_rules_hold_by_each_kind_of_landlock(abi: int, tmp_path: os.PathLike[str]) -> None:
    """A process may do what they grant and nothing else, whatever the kernel knows beyond them."""
    file = f"{os.fspath(tmp_path)}/file"

    done = subprocess.run(
        [sys.executable, "-c", TAKES_ON, str(abi), file], capture_output=True, text=True, check=True
    )

    assert done.stdout == "refused\n"


def test_a_process_whose_parent_has_ended_already_is_told() -> None:
    """There will be no signal for it."""
    with pytest.raises(ProcessLookupError):
        kernel.end_with_parent(os.getpid(), 0)
