"""`hubbub proof`: what is said beside what was seen."""

from tests.cli.processes import RunningHub


def test_proof_shows_what_is_missing_and_who_waived_it(hub: RunningHub) -> None:
    """A task's demands are shown with the finding on each; a person waives them with a reason, and is named."""
    hub.meet("ada")
    hub.run("task", "add", "work", "--to", "ada")
    assert hub.run("proof", "1").stdout == "said: nothing yet\nit asks for no proof\n"

    done = hub.run("proof", "1", "--waive", "a draft is enough")
    assert done.stdout.endswith(": a draft is enough\n")
    assert hub.json("proof", "T-1")["contract"]["waived_why"] == "a draft is enough"
