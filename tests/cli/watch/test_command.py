"""`hubbub watch` before it takes the screen."""

from tests.cli.processes import RunningHub


def test_a_project_that_is_not_yours_is_refused_at_once(hub: RunningHub) -> None:
    """`hubbub watch` of an unknown project prints one sentence, exits with 1, and takes no screen."""
    ended = hub.run("watch", "--project", "nope")

    assert (ended.returncode, ended.stdout) == (1, "")
    assert "project 'nope' is not one of yours" in ended.stderr
    assert ended.stderr.count("\n") == 1
