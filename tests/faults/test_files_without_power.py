"""The power fails while files are written: each is as it was or as it was to be, and what was promised is there."""

import json
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pytest

from hubbub.clients import install_record
from hubbub.clients.install.client_installer import ClientInstaller
from hubbub.clients.install.install_plan import ConfigEntry, InstallPlan, OwnedFile
from hubbub.clients.install.known_clients import CLIENTS
from hubbub.clients.install_record import Install
from hubbub.daemons import membership
from hubbub.daemons.membership import Membership
from hubbub.daemons.system_service import SystemService
from hubbub.model.fleet.calls import Principal
from hubbub.model.ids import new_id
from hubbub.model.work.memory import MemoryPart
from hubbub.node.agents import agent_records
from hubbub.node.agents.agent_records import AgentRecord
from hubbub.node.audit import audit_log as audit
from hubbub.node.audit.audit_log import AuditLog, AuditVerdict
from hubbub.node.link.journal import CallStanding, Journal, JournalLimits
from hubbub.node.policy import approver_keys, node_policy
from hubbub.node.tools.background_tasks import STOPPED, TaskReport
from hubbub.node.tools.background_tasks import _Note as Errand
from hubbub.processes import durable_files
from hubbub.terminal import credentials
from hubbub.worker.result_spool import ResultSpool, SpooledResult
from hubbub.workspace import documents
from hubbub.workspace.documents import PROJECT, Subject
from hubbub.workspace.relay_folder import RelayFolder, SyncBase
from shellgate.decision import Effect
from tests.clients.install.conftest import Place, files_of, scopes
from tests.faults.layers import recorded
from tests.faults.rounds import DAILY, Found, many, power_cuts

UNNAMED = 9  # characters of the suffix of a file that has no name of its own yet
ROUNDS_OF_INSTALLS = int(os.environ.get("ROUNDS", DAILY))


class Writing(NamedTuple):
    """Something that is written in steps, each durable when it is done, with a way to read it."""

    steps: Sequence[Callable[[Path], object]]
    read: Callable[[Path], object]


def text(name: str) -> Callable[[Path], str | None]:
    """Read a file by its text alone."""
    return lambda root: (root / name).read_text() if (root / name).exists() else None


def result(number: int) -> SpooledResult:
    return SpooledResult(
        ref=f"T{number}", epoch=1, sender="ann", verb="complete", text="done " * 300, instance="a"
    )


def joined(name: str) -> Membership:
    return Membership(name=name, project="lab", url=None, token="ntok_" + "x" * 40)


def note(command: str) -> AgentRecord:
    who = Principal(project="lab", name="ann")
    return AgentRecord(who=who, agent="bot", command=command, concurrency=1, folder=None, digest="d", since=1)


def install(root: Path, client: str) -> Install:
    """An install of ann."""
    token = install_record.token_file(root / "config", "ann")
    return Install(client, "user", None, "ann", "http://hub", "lab", str(token), None, 1, [])


def put(root: Path, client: str) -> None:
    install_record.put(root / "config", install(root, client))


def forget(root: Path, client: str) -> None:
    install_record.remove(root / "config", install(root, client))


def installs(root: Path) -> list[str]:
    file = root / "config" / install_record.RECORD
    return [each["client"] for each in json.loads(file.read_text())["installs"]] if file.exists() else []


def mirror(root: Path, subject: Subject, said: str) -> None:
    shelf = RelayFolder(root / "relay")
    with shelf.locked():
        shelf.write(subject, said)


def write(root: Path, said: str) -> None:
    durable_files.write(root / "file", said)


def keep(root: Path, number: int) -> None:
    ResultSpool(root / "work" / "abc").keep(result(number))


def place(root: Path, command: str) -> None:
    agent_records.write(root / "agents" / "abc", note(command))


def let_in(root: Path, rule: str) -> None:
    node_policy.add(root / "config" / "node.toml", rule, Effect.ALLOW)


def keep_token(root: Path, token: str) -> None:
    credentials.write_token(root / "tokens" / "t", token)


def errands(root: Path) -> list[object]:
    """The notes of processes that are gone, as the next one reads them."""
    found = [Errand.taken(each) for each in sorted((root / "tasks").glob("*.json"))]
    assert all(each is not None for each in found)
    return [each._report for each in found if each is not None]


def approver(root: Path) -> bool:
    """Tell whether there is a key; a key has to be whole."""
    file = root / "config" / approver_keys.KEY_FILE
    return file.exists() and approver_keys.public_part(file) is not None


WRITINGS = {
    "a file": Writing(
        [partial(write, said=each * 3000) for each in ("a", "bc", "")],
        text("file"),
    ),
    "a file that goes": Writing(
        [
            partial(write, said="content"),
            lambda root: durable_files.remove(root / "file"),
            lambda root: durable_files.write_new(root / "file", "other"),
        ],
        text("file"),
    ),
    "the results of hubbub work": Writing(
        [
            *(partial(keep, number=each) for each in range(3)),
            *2 * [lambda root: ResultSpool(root / "work" / "abc").begin("B1")],
        ],
        lambda root: {
            each.name: each.read_text() for each in root.glob("work/abc/*") if not each.name.startswith(".")
        },
    ),
    "the notes of placed agents": Writing(
        [
            *(partial(place, command=each) for each in ("one", "two")),
            lambda root: agent_records.forget(root / "agents" / "abc"),
        ],
        lambda root: [each.command for _, each in agent_records.every(root)],
    ),
    "what a machine has joined": Writing(
        [partial(membership.write, membership=joined(each)) for each in ("atlas", "titan")],
        membership.read,
    ),
    "rules that a person let in": Writing(
        [partial(let_in, rule=each) for each in ("Bash(make)", "Bash(ls *)")],
        text(f"config/{node_policy.APPROVED}"),
    ),
    "a token": Writing(
        [partial(keep_token, token=each) for each in ("a", "b")],
        lambda root: credentials.read_token(root / "tokens" / "t"),
    ),
    "an approver's key": Writing(
        [lambda root: approver_keys.make_key(root / "config" / approver_keys.KEY_FILE)], approver
    ),
    "a service": Writing(
        [lambda root: SystemService(file=root / "units" / "a.service", content="x" * 900, start=()).write()],
        text("units/a.service"),
    ),
    "the record of what is installed": Writing(
        [
            *(partial(put, client=each) for each in ("codex", "zed")),
            *(partial(forget, client=each) for each in ("codex", "zed")),
        ],
        installs,
    ),
    "a mirrored memory": Writing(
        [
            *(partial(mirror, subject=PROJECT, said=each) for each in ("# One\n" * 200, "# Two\n")),
            partial(mirror, subject=Subject(documents.DocumentKind.AGENT, "ann"), said="# Ann\n"),
        ],
        lambda root: (
            [
                RelayFolder(root / "relay").read(each)
                for each in (PROJECT, Subject(documents.DocumentKind.AGENT, "ann"))
            ]
        ),
    ),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.mark.parametrize("what", WRITINGS)
def test_a_file_is_as_it_was_or_as_it_was_to_be(root: Path, what: str) -> None:
    """Each file that hubbub keeps is whole after a power cut: the old one until the call returns, or the new one, and
    the new one from then on.
    """
    steps, read = WRITINGS[what]
    with recorded(root) as recording:
        recording.note(read(root))
        for step in steps:
            step(root)
            recording.note(read(root))

    def look(found: Found) -> None:
        assert read(found.folder) in found.noted[-1:] + found.later[:1]

    power_cuts(recording, DAILY * 2, look)


def test_a_task_in_the_background_is_told_how_it_ended(root: Path) -> None:
    """The note of a task that is under way is there, whole, from when it is made until it is settled."""
    report = TaskReport("three files" * 200)
    with recorded(root) as recording:
        recording.note([])
        made = Errand.made(root / "tasks", "T1")
        recording.note([STOPPED])
        made.write(report)
        recording.note([report])

    def look(found: Found) -> None:
        assert errands(found.folder) in found.noted[-1:] + found.later[:1]

    power_cuts(recording, DAILY * 2, look)


def test_a_memory_that_was_agreed_on_is_not_older_than_its_file(root: Path) -> None:
    """The last version agreed between file and hub is noted after the file is safe on the disk."""
    shelf, subject = RelayFolder(root / "relay"), PROJECT
    said = [f"# Version {number}\n" * 50 for number in range(4)]
    with recorded(root) as recording:
        for number, each in enumerate(said):
            with shelf.locked():
                shelf.write(subject, each)
                shelf.keep_base("lab", subject, SyncBase(number, (MemoryPart(None, each),)))
            recording.note(number)

    def look(found: Found) -> None:
        again = RelayFolder(found.folder / "relay")
        base, now = again.base("lab", subject), again.read(subject)
        version = -1 if base is None else base.version
        assert version in (found.noted[-1:] or [-1]) + found.later[:1]
        assert now is None if version < 0 and now is None else now in said[max(version, 0) :]

    power_cuts(recording, DAILY * 2, look)


@many
def test_an_order_is_remembered_before_it_begins(root: Path, rounds: int) -> None:
    """After a power cut a machine knows each order that it had begun, so that it does none twice, and tells no outcome
    that is not one; outcomes of the last moments may be lost, and are then unknown.
    """
    orders = [new_id() for _ in range(12)]
    with recorded(root) as recording:
        journal = Journal(
            root / "machine" / "orders.db", JournalLimits(remembered=6, kept=3, characters=9_000)
        )
        for number, order in enumerate(orders):
            assert journal.begin([order]) == [CallStanding.NEW]
            recording.note(order)
            if number % 3:
                journal.end(order, f"{order} ended" * 60)
            if number % 3 == 2:
                journal.keep(order)
        journal.close()

    def look(found: Found) -> None:
        again = Journal(found.folder / "machine" / "orders.db")
        begun = [order for order in found.noted if isinstance(order, UUID)]
        for order in begun:
            standing, told = again.find(order)
            assert standing in (CallStanding.BEGUN, CallStanding.ENDED, CallStanding.PAST)
            assert told in (None, f"{order} ended" * 60)
        assert CallStanding.NEW not in (again.begin(begun) if begun else [])
        again.close()

    power_cuts(recording, rounds, look)


def decide(log: AuditLog, number: int) -> int:
    return log.decided(
        decision=AuditVerdict.ALLOW,
        tool="execute_command",
        target=f"make {number} " + "x" * 700,
        source="mode",
        rule_id="",
        reason="",
        digest="d",
        sandbox="none",
        who="lab/ann",
    )


@many
def test_the_audit_log_has_what_was_decided_and_its_chain_holds(root: Path, rounds: int) -> None:
    """After a power cut each line is there of what was decided before it was done; the chain is whole and goes on, and
    nothing looks as if somebody had touched it.
    """
    log = AuditLog(root / "machine" / audit.FILE)
    with recorded(root) as recording:
        for number in range(1, 8):
            seq = decide(log, number)
            recording.note(seq)
            recording.note(log.ended(seq, result="ok", who="lab/ann"))

    def look(found: Found) -> None:
        file = found.folder / "machine" / audit.FILE
        again = AuditLog(file)
        assert not found.noted or audit.verify(file) == []
        seq = decide(again, 99)
        assert seq in (len(found.noted) + 1, len(found.noted) + 2)
        assert audit.verify(file) == []

    power_cuts(recording, rounds, look)


def test_an_install_never_loses_what_was_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a client is installed each of its files is as it was or as it is to be, and of one that is changed the
    old one is beside it; once the install is reported all of it is there, by what it is undone too.
    """
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0)
    settings, skill = root / "client" / "settings.json", root / "client" / "skills" / "hub" / "SKILL.md"
    settings.parent.mkdir()
    settings.write_text('{"theirs": 1}\n' + " " * 700)
    plan = InstallPlan()
    plan.add(
        [
            ConfigEntry(settings, "json", ("mcpServers", "hubbub"), {"url": "u"}, "url"),
            OwnedFile(skill, "s" * 900),
        ]
    )
    before = settings.read_text()
    with recorded(root) as recording:
        plan.apply(root / "config", lambda: put(root, "codex"))
        recording.note("installed")
    after = settings.read_text()

    def look(found: Found) -> None:
        now = (found.folder / "client" / "settings.json").read_text()
        kept = [each.read_text() for each in (found.folder / "client").glob("*.bak")]
        assert now in ((after,) if found.noted else (before, after))
        assert set(kept) <= {before}
        assert now == before or kept
        there = found.folder / "client" / "skills" / "hub" / "SKILL.md"
        assert there.read_text() == "s" * 900 if there.exists() else not found.noted
        assert installs(found.folder) == ["codex"] if found.noted else True

    power_cuts(recording, DAILY * 4, look)


THEIRS = {
    "json": '{"theirs": 1}\n',
    "jsonc": '{"theirs": 1}\n',
    "env": "THEIRS=1\n",
    "toml": "theirs = 1\n",
    "yaml": "theirs: 1\n",
}


def tree(root: Path) -> dict[str, str]:
    """Every file of the home and of the project, except those that only lay beside one while it was written."""
    files = [each for name in ("home", "project") for each in (root / name).rglob("*") if each.is_file()]
    return {str(each.relative_to(root)): each.read_text() for each in files if len(each.suffix) != UNNAMED}


def theirs(place: Place, client: ClientInstaller, scope: str) -> None:
    """Let each file that the installer edits have content of its own."""
    for file, language in files_of(place, client, scope):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(THEIRS[language])


@pytest.mark.system
@pytest.mark.parametrize(("name", "scope"), [(n, s) for n, each in CLIENTS.items() for s in scopes(each)])
def test_no_installer_leaves_half_a_file(
    tmp_path: Path, name: str, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever the power fails while a client is installed and removed, each of its files is as it was before the one
    or the other, or as it is after it; what is removed is removed in the end.
    """
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0)
    place = Place.fresh(tmp_path / "root")
    theirs(place, CLIENTS[name], scope)
    states = [tree(tmp_path / "root")]
    with recorded(tmp_path / "root") as recording:
        done = place.install(CLIENTS[name], scope)
        states.append(tree(tmp_path / "root"))
        recording.note("installed")
        place.uninstall(done)
        states.append(tree(tmp_path / "root"))
        recording.note("removed")

    def look(found: Found) -> None:
        now, begun = tree(found.folder), len(found.noted)
        for file in {*now, *states[begun]}:
            assert now.get(file) in [each.get(file) for each in states[begun : begun + 2]], file

    assert states[0] != states[1] != states[2]
    power_cuts(recording, ROUNDS_OF_INSTALLS, look)
