"""`hubbub watch` before it takes the screen."""

import pytest

from tests.cli.processes import RunningHub
from tests.cli.screens import on_screen


def test_a_project_that_is_not_yours_is_refused_at_once(hub: RunningHub) -> None:
    """`hubbub watch` of an unknown project prints one sentence, exits with 1, and takes no screen."""
    ended = hub.run("watch", "--project", "nope")

    assert (ended.returncode, ended.stdout) == (1, "")
    assert "project 'nope' is not one of yours" in ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.system
def test_ctrl_c_leaves(hub: RunningHub) -> None:
    """Ctrl-C leaves the screen, with exit code 0 as `q` does."""
    for key in ("\x03", "q"):
        with on_screen(hub, "watch", TERM="xterm-256color") as screen:
            screen.until("live")
            screen.type(key)
            screen.rest()
            assert screen.process.returncode == 0
