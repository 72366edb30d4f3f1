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


def test_what_a_task_asks_for_is_said_where_it_is_made(hub: RunningHub) -> None:
    """`task add --done-when` and `task done-when` say what a task asks for, which is shown with it."""
    hub.meet("ada")
    hub.run("task", "add", "work", "--to", "ada", "--done-when", "clean", "--done-when", "ran make lint")
    assert (
        "done when `make lint`, run by itself after the last change, passed\n"
        in hub.run("task", "show", "1").stdout
    )
    assert hub.run("task", "done-when", "1").stdout == "clean\nran make lint\n"
    assert hub.run("task", "done-when", "T-1", "within ./docs/").stdout == "within docs/\n"
    assert hub.json("task", "done-when", "1", "--nothing") == {"done_when": []}
    assert hub.run("task", "done-when", "1", "tidy").returncode == 2
    assert hub.run("task", "done-when", "1", "clean", "--as-project").returncode == 2


def test_what_a_project_asks_for_holds_for_its_tasks(hub: RunningHub) -> None:
    """`project proof` says what tasks ask for that do not say; what it does not name stays as it is."""
    hub.meet("ada")
    hub.run("task", "add", "work", "--to", "ada", "--done-when", "clean")
    said = hub.json(
        "project",
        "proof",
        hub.project,
        "--done-when",
        "tests",
        "--tests",
        "make test",
        "--test-file",
        "tests",
    )
    assert said == {
        "done_when": ["tests"],
        "tests": "make test",
        "test_files": ["tests"],
        "unproven": "refuse",
    }
    assert hub.run("task", "done-when", "1", "--as-project").stdout == "tests\n"

    assert hub.json("project", "proof", hub.project, "--unproven", "review") == {**said, "unproven": "review"}
    assert hub.run("project", "proof", hub.project, "--nothing").stdout == (
        "done_when           none\n"
        "tests               make test\n"
        "test_files          tests\n"
        "unproven            review\n"
    )
    assert hub.run("project", "proof", hub.project, "--nothing", "--done-when", "clean").returncode == 2


def test_a_proof_is_stated_with_the_key_to_check_it_by(hub: RunningHub) -> None:
    """`proof --statement` prints a signed statement, `proof --key` the key that signed it; what cannot be is said."""
    hub.meet("ada")
    hub.run("task", "add", "work", "--to", "ada")
    assert "once it is completed" in hub.run("proof", "1", "--statement").stderr
    looked = {"tree": "a" * 40, "head": "b" * 40}
    hub.client().step("1", "start", by="ada")
    hub.client().post(
        "/sightings", {"deed": "look", "instance": "r", "agent": "ada", "place": "p", "tree": looked}
    )
    hub.run("task", "complete", "1", "done")

    (signature,) = hub.json("proof", "T-1", "--statement")["signatures"]
    assert hub.json("proof", "--key")["keyid"] == signature["keyid"]
    assert hub.run("proof", "--key").stdout.startswith("-----BEGIN PUBLIC KEY-----\n")
    assert hub.run("proof").returncode == 2
