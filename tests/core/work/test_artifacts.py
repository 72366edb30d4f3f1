"""Artifacts: showing what was made, and finding it again."""

import pytest

from hubbub.core.people import runs
from hubbub.core.work import artifacts
from hubbub.model.errors import NotFound
from hubbub.model.ids import new_id
from hubbub.model.records import Artifact, Run
from tests.core.conftest import RACERS, World, errors_of


@pytest.fixture
def run(world: World) -> Run:
    return world.do(runs.start, world.id, "monday", by="ann")


def post(world: World, run: Run, name: str = "plan", content: str = "one, two", **more: str) -> Artifact:
    return world.do(
        artifacts.post, run, **{"by": "ann", "name": name, "kind": "text", "content": content, **more}
    )


def test_an_artifact_comes_back_as_it_was(world: World, run: Run) -> None:
    """A posted artifact is read again to the letter, with its length in characters; the listing is without it."""
    content = "计划 ✓\r\n\t'x' \\ 🦊\n"
    artifact = post(world, run, content=content)

    assert (artifact.name, artifact.kind, artifact.creator, artifact.length) == (
        "plan",
        "text",
        "ann",
        len(content),
    )
    assert (artifact.run_id, artifact.project_id, artifact.number) == (run.id, world.id, 1)
    assert world.do(artifacts.content, artifact) == content
    assert world.do(artifacts.of_run, run) == [artifact]


def test_a_task_of_another_project_is_not_told_of(world: World, run: Run) -> None:
    """The log tells an artifact of the task that it was made for, and of none that is another project's."""
    own, foreign = world.send(), world.elsewhere("attic").send()
    for task in (own, foreign):
        assert post(world, run, task=str(task.id)).task == str(task.id)

    told = [each.task_id for each in world.log() if each.kind == "artifact.posted"]
    assert told == [own.id, None]


@pytest.mark.parametrize("content", ["", "x" * 524_288])
def test_an_artifact_may_be_empty_or_large(world: World, run: Run, content: str) -> None:
    """An empty artifact is one, and so is one of half a million characters."""
    assert world.do(artifacts.content, post(world, run, content=content)) == content


def test_the_newest_of_a_name_is_meant(world: World, run: Run) -> None:
    """Names repeat: by its name the newest is found, by their ids all are."""
    first, second = post(world, run, content="draft"), post(world, run, content="final")
    post(world, run, name="other")

    assert world.do(artifacts.newest, run, "plan") == second
    for artifact, content in ((first, "draft"), (second, "final")):
        assert world.do(artifacts.find, [world.id], str(artifact.id)) == artifact
        assert world.do(artifacts.content, artifact) == content
    with pytest.raises(NotFound, match=r"^artifact 'nothing' not found$"):
        world.do(artifacts.newest, run, "nothing")


def test_a_name_is_of_its_run(world: World, run: Run) -> None:
    """An artifact is found by its name in its own run alone."""
    artifact = post(world, run)
    tuesday = world.do(runs.start, world.id, "tuesday", by="ann")

    with pytest.raises(NotFound):
        world.do(artifacts.newest, tuesday, "plan")
    later = post(world, tuesday)
    assert world.do(artifacts.newest, run, "plan") == artifact
    assert world.do(artifacts.newest, tuesday, "plan") == later
    assert world.do(artifacts.of_run, tuesday) == [later]


def test_in_its_project_the_newest_of_all_runs_is_meant(world: World, run: Run) -> None:
    """A look through the whole project finds the last one posted, in any run, and nothing of another project."""
    post(world, run)
    later = post(world, world.do(runs.start, world.id, "tuesday", by="ann"))
    other = world.elsewhere("other")

    assert world.do(artifacts.newest_of_project, world.id, "plan") == later
    with pytest.raises(NotFound, match=r"^artifact 'plan' not found$"):
        other.do(artifacts.newest_of_project, other.id, "plan")


def test_what_was_made_for_a_task_outlives_its_run(world: World, run: Run) -> None:
    """A task's id finds its artifacts in any run, its number those in its own."""
    task = world.send()
    first = post(world, run, task=str(task.number))
    tuesday = world.do(runs.start, world.id, "tuesday", by="ann")
    post(world, tuesday, task=str(task.number))
    second = post(world, tuesday, task=str(task.id))

    assert world.do(artifacts.of_task, task) == [first, second]


def test_nothing_of_another_project_is_found(world: World, run: Run) -> None:
    """An id of another project, of something else or of nothing is not found."""
    artifact = post(world, run)
    other = world.elsewhere("other")

    with pytest.raises(NotFound):
        other.do(artifacts.find, [other.id], str(artifact.id))
    for nonsense in ("", "1", "plan", str(new_id()), str(world.send().id)):
        with pytest.raises(NotFound, match=r"^artifact .* not found$"):
            world.do(artifacts.find, [world.id], nonsense)


def test_a_projects_artifacts_are_read_backwards(world: World, run: Run) -> None:
    """The artifacts of a project, of all its runs, are read newest first, page by page."""
    monday = [post(world, run, name=str(number)) for number in range(2)]
    tuesday = world.do(runs.start, world.id, "tuesday", by="ann")
    all_of_them = [*monday, post(world, tuesday)]
    other = world.elsewhere("other")
    post(other, other.do(runs.current, other.id))

    first = world.do(artifacts.of_project, world.id, limit=2)
    rest = world.do(artifacts.of_project, world.id, before=first[-1].number, limit=2)
    assert first + rest == all_of_them[::-1]


def test_posting_is_recorded(world: World, run: Run) -> None:
    """The log says who posted what, and for which task, if it was made for one."""
    task = world.send()
    artifact = post(world, run, task=str(task.id))
    by_words = post(world, run, task="the one about lines")

    first, second = [each for each in world.log() if each.kind == "artifact.posted"]
    assert (first.actor, first.task_id, second.task_id) == ("ann", task.id, None)
    assert first.detail == {"artifact_id": str(artifact.id), "name": "plan", "kind": "text", "length": 8}
    assert by_words.task == "the one about lines"


def test_racing_posts_are_all_kept(world: World, run: Run) -> None:
    """However many post by the same name at once, all are kept, and counted without gap or double."""
    outcomes = world.race(
        *[
            lambda tx, text=str(n): artifacts.post(tx, run, by="ann", name="plan", kind="text", content=text)
            for n in range(RACERS)
        ]
    )

    assert errors_of(outcomes) == []
    kept = world.do(artifacts.of_run, run)
    assert [artifact.number for artifact in kept] == list(range(1, RACERS + 1))
    assert sorted(world.do(artifacts.content, artifact) for artifact in kept) == sorted(
        map(str, range(RACERS))
    )
    assert world.do(artifacts.newest, run, "plan") == kept[-1]
