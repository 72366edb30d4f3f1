"""The audit log: every line of it holds, and whatever is done to it shows."""

import json
import multiprocessing
import random
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub.node.audit.audit_log import AuditFailed, AuditLog, AuditVerdict, verify
from hubbub.node.audit.hash_chain import ChainHead, FaultKind

LINES = 8
Lines = list[str]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "audit.jsonl"


def decide(log: AuditLog, target: str = "ls", who: str = "default/ada") -> int:
    return log.decided(
        decision=AuditVerdict.ALLOW,
        tool="execute_command",
        target=target,
        source="mode",
        rule_id="default",
        reason="it only reads",
        digest="d" * 64,
        sandbox="none",
        who=who,
    )


def filled(file: Path, lines: int = LINES) -> Lines:
    """A log of so many lines; gives them."""
    log = AuditLog(file)
    for number in range(lines):
        decide(log, f"ls {number}")
    return file.read_text().splitlines(keepends=True)


def kinds(file: Path, heads: tuple[ChainHead, ...] = ()) -> dict[FaultKind, int | None]:
    """Return the kinds of faults found, with their lines."""
    return {fault.kind: fault.line for fault in verify(file, [("the hub", each) for each in heads])}


def test_a_line_says_what_was_decided_and_comes_before_the_act(file: Path) -> None:
    """Each decision is a line of JSON with its number; what came of it is a line of its own that names it."""
    log = AuditLog(file)
    seq = decide(log)
    assert log.ended(seq, result="ok", who="default/ada") == seq + 1 == 2
    decided, ended = map(json.loads, file.read_text().splitlines())
    assert list(decided) == [
        *("ts", "seq", "decision", "tool", "target", "source", "rule_id", "reason"),
        *("digest", "sandbox", "who", "prev", "hash"),
    ]
    assert (decided["seq"], decided["decision"], decided["prev"]) == (1, "allow", "0" * 64)
    assert (ended["of"], ended["result"], ended["prev"]) == (1, "ok", decided["hash"])


def test_nobody_else_can_read_it(file: Path) -> None:
    """The log, its seal and the key of that are the owner's alone."""
    filled(file)
    files = sorted(each.name for each in file.parent.iterdir())
    assert files == ["audit.head", "audit.jsonl", "audit.key"]
    assert {stat.S_IMODE(each.stat().st_mode) for each in file.parent.iterdir()} == {0o600}


def test_a_log_as_it_was_written_is_sound(file: Path) -> None:
    """Nothing is found where nothing was done, also where nothing was written, and with what the hub has kept."""
    assert verify(file) == []
    filled(file, 3)
    heads = [AuditLog(file).head()]
    filled(file, 3)
    assert verify(file, [("the hub", each) for each in (*heads, AuditLog(file).head())]) == []
    assert AuditLog(file).head().seq == 6


def edited(lines: Lines) -> Lines:
    return [*lines[:3], lines[3].replace("ls 3", "ls 4"), *lines[4:]]


def spaced(lines: Lines) -> Lines:
    return [*lines[:3], lines[3].replace('"seq":4', '"seq": 4'), *lines[4:]]


def swapped(lines: Lines) -> Lines:
    return [*lines[:3], lines[4], lines[3], *lines[5:]]


def repeated(lines: Lines) -> Lines:
    return [*lines[:4], lines[3], *lines[4:]]


def torn(lines: Lines) -> Lines:
    return [*lines[:3], lines[3][:40] + "\n", *lines[4:]]


@pytest.mark.parametrize(
    ("change", "kind", "line"),
    [
        (edited, FaultKind.EDITED, 4),
        (spaced, FaultKind.EDITED, 4),
        (torn, FaultKind.EDITED, 4),
        (lambda lines: [*lines[:3], "rubbish\n", *lines[3:]], FaultKind.EDITED, 4),
        (lambda lines: [*lines[:3], "[1]\n", *lines[4:]], FaultKind.EDITED, 4),
        (lambda lines: [*lines[:3], *lines[4:]], FaultKind.DELETED, 4),
        (lambda lines: lines[3:], FaultKind.DELETED, 1),
        (swapped, FaultKind.REORDERED, 4),
        (lambda lines: [*lines[1:], lines[0]], FaultKind.REORDERED, 1),
        (repeated, FaultKind.REORDERED, 5),
        (lambda lines: lines[:-1], FaultKind.TRUNCATED, None),
        (lambda lines: lines[:0], FaultKind.TRUNCATED, None),
    ],
)
def test_what_was_done_to_it_shows(
    file: Path, change: Callable[[Lines], Lines], kind: FaultKind, line: int | None
) -> None:
    """An edited, deleted or moved line is found where it is, and so is an end that is missing; nothing else is."""
    lines = filled(file)
    file.write_text("".join(change(lines)))
    assert kinds(file) == {kind: line}


def test_a_log_that_was_deleted_was_cut_short(file: Path) -> None:
    """Without the file its seal tells, and without both the hub."""
    filled(file)
    head = AuditLog(file).head()
    file.unlink()
    assert kinds(file) == {FaultKind.TRUNCATED: None}
    file.with_suffix(".head").unlink()
    assert kinds(file) == {}
    assert kinds(file, (head,)) == {FaultKind.TRUNCATED: None}


def test_a_log_written_anew_shows_at_the_hub(file: Path) -> None:
    """A whole new chain, with its seal, has other hashes than the hub remembers."""
    filled(file)
    head = AuditLog(file).head()
    for each in list(file.parent.iterdir()):
        each.unlink()
    filled(file, LINES + 3)
    assert kinds(file) == {}
    assert kinds(file, (head,)) == {FaultKind.REWRITTEN: LINES}


def test_a_line_with_a_new_hash_breaks_the_next(file: Path, tmp_path: Path) -> None:
    """A line that was replaced by another, hash and all, is not the one that the next line follows."""
    lines = filled(file)
    other = tmp_path / "other" / "audit.jsonl"
    others = filled(other)
    file.write_text("".join([*lines[:-2], others[-2], lines[-1]]))
    assert kinds(file)[FaultKind.REWRITTEN] in (LINES - 1, LINES)


@pytest.mark.parametrize("rubbish", ["", "{}", '{"seq":1,"hash":"x","mac":"y"}'])
def test_a_broken_seal_is_told(file: Path, rubbish: str) -> None:
    """Without its seal nobody can say where the log ended, and that is said."""
    filled(file)
    file.with_suffix(".head").write_text(rubbish)
    assert kinds(file) == {FaultKind.TRUNCATED: None}
    file.with_suffix(".head").unlink()
    assert kinds(file) == {FaultKind.TRUNCATED: None}


def test_a_log_that_was_cut_goes_on_behind_the_gap(file: Path) -> None:
    """Lines written after a cut do not hide it."""
    lines = filled(file)
    file.write_text("".join(lines[:4]))
    assert decide(AuditLog(file)) == LINES + 1
    assert kinds(file) == {FaultKind.DELETED: 5}


def test_a_line_that_was_not_ended_does_not_spoil_the_next(file: Path) -> None:
    """A line cut short by a power failure does not count: nobody acted upon it, it is no sign of tampering, and the
    next line takes its place.
    """
    filled(file)
    with file.open("a") as log:
        log.write('{"ts":1')
    assert kinds(file) == {}
    assert decide(AuditLog(file)) == LINES + 1
    assert kinds(file) == {}
    assert '{"ts":1{' not in file.read_text()
    assert file.read_text().count("\n") == LINES + 1
    assert file.read_text().splitlines()[-1].startswith('{"ts":')


def test_a_seal_that_was_not_written_yet_is_behind(file: Path, tmp_path: Path) -> None:
    """A process that is killed between the line and its seal leaves a log that is sound and goes on."""
    filled(file, 3)
    sealed = file.with_suffix(".head").read_bytes()
    decide(AuditLog(file))
    file.with_suffix(".head").write_bytes(sealed)
    assert kinds(file) == {}
    assert decide(AuditLog(file)) == 5
    assert kinds(file) == {}


def write_many(file: Path, name: str) -> None:
    """Write as one of several processes at the same time."""
    log = AuditLog(file)
    for _ in range(40):
        log.ended(decide(log, who=f"default/{name}"), result="ok", who=f"default/{name}")


@pytest.mark.system
def test_several_processes_write_one_chain(file: Path) -> None:
    """Lines of processes that write at once follow one another, and none is lost."""
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(file, f"agent-{number}")) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert kinds(file) == {}
    assert AuditLog(file).head().seq == 3 * 40 * 2


def test_the_last_decisions_of_a_project(file: Path) -> None:
    """The newest first, those of the project alone, and only as many as are wanted."""
    log = AuditLog(file)
    for number in range(6):
        seq = decide(log, f"ls {number}", who=f"{('ours', 'theirs')[number % 2]}/ada")
        log.ended(seq, result="ok", who="ours/ada")
    assert [line["target"] for line in log.recent("ours", 2)] == ["ls 4", "ls 2"]
    assert log.recent("our", 5) == []


def test_what_cannot_be_written_raises(file: Path) -> None:
    """Where there can be no line there can be no act: a folder in its place, a link elsewhere, a full disk."""
    file.mkdir(parents=True)
    with pytest.raises(AuditFailed, match="cannot be written"):
        decide(AuditLog(file))
    file.rmdir()
    file.symlink_to(file.with_name("elsewhere"))
    with pytest.raises(AuditFailed):
        decide(AuditLog(file))
    with pytest.raises(AuditFailed):
        decide(AuditLog(Path("/dev/full")))


@pytest.mark.parametrize("text", ["\ud800", "\u2028\n\0", "x" * 100_000, '"},{"hash":"'])
def test_no_text_breaks_a_line(file: Path, text: str) -> None:
    """Whatever agents write, a line is a line, and sound."""
    log = AuditLog(file)
    decide(log, text)
    decide(log, "after")
    assert kinds(file) == {}
    assert len(file.read_bytes().split(b"\n")) == 3


def test_any_single_byte_that_was_changed_shows(file: Path) -> None:
    """There is no byte in a log that can be another."""
    filled(file, 3)
    sound = file.read_bytes()
    chance = random.Random(7)
    for at in chance.sample(range(len(sound)), 150):
        file.write_bytes(sound[:at] + bytes([sound[at] ^ (1 << chance.randrange(7))]) + sound[at + 1 :])
        assert verify(file), at
