"""Names of hosts by callers, and in the rules of a policy."""

import pytest

from hubbub.model.errors import Invalid
from hubbub.node.ssh.destination import Destination, parse
from tests.support.each_row import each_row


@each_row(
    ("written", "expected", "names"),
    [
        ("web1", Destination("web1"), ("web1",)),
        ("WEB1.", Destination("web1"), ("web1",)),
        ("ada@web-1.example", Destination("web-1.example", "ada"), ("web-1.example", "ada@web-1.example")),
        ("web1:2222", Destination("web1", None, 2222), ("web1", "web1:2222")),
        ("ada@web1:2222", Destination("web1", "ada", 2222), ("web1", "ada@web1:2222")),
        ("10.0.0.1:22", Destination("10.0.0.1", None, 22), ("10.0.0.1", "10.0.0.1:22")),
        ("::1", Destination("::1"), ("::1",)),
        ("[::1]:2222", Destination("::1", None, 2222), ("::1", "[::1]:2222")),
        ("ada@[fe80::1%eth0]", Destination("fe80::1%eth0", "ada"), ("fe80::1%eth0", "ada@fe80::1%eth0")),
        ("EXAMPLE\\ada@web1", Destination("web1", "EXAMPLE\\ada"), ("web1", "EXAMPLE\\ada@web1")),
    ],
)
def test_a_host_is_written_in_few_ways(written: str, expected: Destination, names: tuple[str, ...]) -> None:
    """Capitals and a dot at the end make no other host; the host alone always is one of its names."""
    assert parse(written) == expected
    assert parse(str(expected)) == expected
    assert expected.names == names


NO_HOSTS = (
    "|web |a/b|-x|a@-x|@web|web:|web:0|web:65536|web:1e3|a@b@c|wéb|a\nb|[::1|[web]:22|$(id)|.|ada:x@web"
)


@pytest.mark.parametrize("written", [*NO_HOSTS.split("|"), "a" * 300])
def test_all_else_is_none(written: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(Invalid, match="hostname must be a host"):
        parse(written)
