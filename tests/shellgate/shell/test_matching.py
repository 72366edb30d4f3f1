"""The comparison of the fuzzer: which call of bash it takes for one that the reader saw."""

import pytest

from shellgate.shell.read import read
from tests.shellgate.shell.fuzzer.matching import missed
from tests.shellgate.shell.fuzzer.running import Call
from tests.shellgate.shell.shell_worlds import world

HERE = "/ada/proj"


@pytest.mark.parametrize(
    ("program", "called"),
    [
        ("m a", ("m", "a")),
        ("command -p m a", ("m", "a")),
        ("command - m a", ("-", "m", "a")),  # a lone `-` is no option: bash looks for a command of that name
        ("builtin command -- m a", ("m", "a")),
        ("$x command m a", ("m", "a")),  # x may be empty
    ],
)
def test_a_call_behind_command_is_seen(program: str, called: tuple[str, ...]) -> None:
    """A call that `command` makes is the call that was read, without the options of `command`."""
    assert missed([Call(HERE, called)], read(program, world(HERE))) is None
    other = Call(HERE, ("other", *called))
    assert missed([other], read(program, world(HERE))) == other


def test_a_name_that_may_be_one_that_runs_a_text_may_call_anything() -> None:
    """A person is asked about a name that is known only in part; one that can be none of those is compared."""
    call = Call(HERE, ("m", "a"))
    assert missed([call], read("$(x)val 'm a'", world(HERE))) is None
    assert missed([call], read("$(x)other 'm a'", world(HERE))) == call


def test_a_pattern_with_two_slashes_finds_one() -> None:
    """Bash writes `sub/` for what `*//` finds."""
    assert missed([Call(HERE, ("m", "sub/"))], read("m *//", world(HERE))) is None
