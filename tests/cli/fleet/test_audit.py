"""`hubbub audit verify`: is the log as it was written."""

import json
from pathlib import Path

import pytest

from hubbub.node.audit.audit_log import FILE, AuditLog, AuditVerdict
from hubbub.node.gate.host_facts import describe
from tests.cli.processes import RunningHub, hubbub


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of three lines, in a data folder where no hub runs."""
    return written(tmp_path / "data" / FILE, 3)


def written(file: Path, lines: int) -> Path:
    """A log with so many more lines."""
    for number in range(lines):
        AuditLog(file).decided(
            decision=AuditVerdict.ALLOW,
            tool="execute_command",
            target=f"ls {number}",
            source="mode",
            rule_id="default",
            reason="it reads",
            digest="0" * 64,
            sandbox="none",
            who="default/ada",
        )
    return file


def test_a_sound_log_is_said_to_be(log: Path) -> None:
    """Exit code 0; and a note that no hub could be asked what it remembers."""
    done = hubbub("audit", "verify", data=log.parent)
    assert (done.returncode, done.stdout) == (0, "the log is sound\n")
    assert done.stderr.startswith("Note: the hub was not asked: no hub is running")


def test_what_is_wrong_is_said_in_a_sentence_each(log: Path) -> None:
    """Exit code 1, and the line that was touched; `--json` says the same to programs."""
    log.write_text(log.read_text().replace("ls 1", "rm 1"))
    done = hubbub("audit", "verify", data=log.parent)
    assert done.returncode == 1
    assert "Error: line 2 was edited: it is not what its hash was made of\n" in done.stderr
    done = hubbub("audit", "verify", "--json", data=log.parent)
    facts = json.loads(done.stdout)
    assert (done.returncode, facts["sound"], facts["hub_was_asked"]) == (1, False, False)
    assert [(each["kind"], each["line"]) for each in facts["faults"]] == [("edited", 2)]


def test_a_log_that_was_cut_short_is_found_without_a_hub(log: Path) -> None:
    """The seal beside it knows where it ended."""
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:2]))
    done = hubbub("audit", "verify", data=log.parent)
    assert done.returncode == 1
    assert "the log was cut short: it ends with number 2, and its seal knows number 3" in done.stderr


def test_a_log_elsewhere_may_be_named(log: Path, tmp_path: Path) -> None:
    """Compared with what lies beside it; one that is not there is refused."""
    done = hubbub("audit", "verify", "--file", str(log), data=tmp_path / "other")
    assert (done.returncode, done.stdout) == (0, "the log is sound\n")
    done = hubbub("audit", "verify", "--file", str(tmp_path / "none.jsonl"), data=tmp_path / "other")
    assert (done.returncode, done.stdout) == (1, "")


def test_where_nothing_was_done_nothing_is_wrong(tmp_path: Path) -> None:
    """A machine that nobody has used has no log yet."""
    done = hubbub("audit", "verify", data=tmp_path / "data")
    assert (done.returncode, done.stdout) == (0, "nothing has been written down yet\n")


def test_the_hub_remembers_what_was_rewritten(hub: RunningHub, tmp_path: Path) -> None:
    """A log that was made anew, seal and all, is not the one whose head the hub keeps."""
    file = written(tmp_path / "node" / FILE, 2)
    name, head = f"{describe(tmp_path).name}-elsewhere", AuditLog(file).head()
    content = {"seq": head.seq, "digest": head.digest}
    hub.client().post("/desk", {"node": name, "need": "seal", "content": content})
    options = ("audit", "verify", "--json", "--file", str(file), "--node", name)

    sound = json.loads(hub.run(*options).stdout)
    assert (sound["sound"], sound["hub_was_asked"]) == (True, True)
    for each in list(file.parent.iterdir()):
        each.unlink()
    written(file, 3)
    anew = json.loads(hub.run(*options).stdout)
    assert [(each["kind"], each["line"]) for each in anew["faults"]] == [("rewritten", 2)]
    assert "the hub, by the program beside owner, knows another" in anew["faults"][0]["sentence"]
