import json
from pathlib import Path

import pytest

from hubbub.node.commands import job_folder
from hubbub.node.commands.job_folder import ENDING, RECORD, JobFolder


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JobFolder:
    """The folder of a command that has been started, without a keeper."""
    monkeypatch.chdir(tmp_path)
    found = job_folder.of(tmp_path, job_folder.new_id())
    found.listen().close()
    found.write(RECORD, {"started_at": "2026-01-01T00:00:00.000Z"})
    return found


def test_a_command_without_keeper_and_ending_was_killed(kept: JobFolder) -> None:
    """It is noted, so that it counts as ended from then on."""
    assert kept.look() == {"status": "killed", "exit_code": None, "output_tail": ""}

    assert kept.read(ENDING) == kept.look()
    assert not kept.end(15)


def test_a_command_without_keeper_takes_no_room(kept: JobFolder) -> None:
    """Nobody has to look at it before its place is free for another."""
    with job_folder.room(kept.path.parent.parent, 1):
        assert kept.read(ENDING) is not None


def test_a_command_that_has_ended_is_as_it_was_noted(kept: JobFolder) -> None:
    """Its keeper is not needed for that."""
    ending = {"status": "exited", "exit_code": 3, "output_tail": "bye\n"}
    kept.write(ENDING, ending)

    assert kept.look() == ending


def test_a_keeper_that_does_not_answer_has_its_command_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was stopped is not taken for dead; and that it does not end its command is said."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(job_folder, "PATIENCE", 0.1)
    stopped = job_folder.of(tmp_path, job_folder.new_id())
    with stopped.listen():
        assert stopped.look() == {"status": "running", "output_tail": ""}
        with pytest.raises(TimeoutError):
            stopped.end(15)

    assert stopped.read(ENDING) is None


def test_a_folder_that_is_not_ready_is_passed_over(kept: JobFolder, tmp_path: Path) -> None:
    """One without a record is being made, or removed, just now; what is no command's is none."""
    commands = tmp_path / job_folder.COMMANDS
    (commands / job_folder.new_id()).mkdir()
    (commands / "notes").mkdir()
    (commands / "notes" / RECORD).write_text(json.dumps({"started_at": ""}))

    assert [each.task_id for each, _ in job_folder.every(tmp_path)] == [kept.task_id]
    assert job_folder.find(tmp_path, "notes") is None


def test_a_machine_that_has_run_nothing_has_no_commands(tmp_path: Path) -> None:
    """Looking for them makes no folder."""
    assert job_folder.every(tmp_path) == []
    job_folder.end_all(tmp_path)
    job_folder.forget_oldest(tmp_path)

    assert [*tmp_path.iterdir()] == []


def test_no_id_leads_elsewhere(tmp_path: Path) -> None:
    """An id is sixteen hexadecimal digits, and nothing else is looked up."""
    assert len({job_folder.new_id() for _ in range(100)}) == 100
    for task_id in ("", ".", "..", "../commands", "0" * 15, "0" * 17, "G" * 16, "0" * 16 + "\n"):
        assert job_folder.find(tmp_path, task_id) is None
