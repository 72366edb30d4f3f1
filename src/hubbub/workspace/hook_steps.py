"""Steps that the bridge on an agent's machine reports to the hub in the `_meta` of a call, beside the arguments.

A task is claimed in two steps: `LOOK`, then, if the hook let it through, `DIRECT`. It is done in two as well: `BEGIN`,
then `PASSED` or `FAILED`; while the hook runs the bridge sends `RENEW`, and `DROPPED` if it came to nothing.
"""

from enum import StrEnum

STEP = "hubbub/step"  # one of the steps
CHECK = "hubbub/check"  # with it: the id of the check
OUTPUT = "hubbub/output"  # with `FAILED`: the sentence about it
LISTS = "hubbub/lists"  # true: the bridge lists agents itself, from the files of its machine


class HookStep(StrEnum):
    """The step of a call that claims a task, or reports one as done."""

    LOOK = "look"  # would the claim succeed?
    DIRECT = "direct"  # no hook is to be run, or it has run
    BEGIN = "begin"  # there may be a hook to run; with a check: wait for that one's end first
    RENEW = "renew"  # it is still running
    PASSED = "passed"
    FAILED = "failed"
    DROPPED = "dropped"  # it was interrupted, or had no result
