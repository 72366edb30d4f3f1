"""The steps of `hubbub install`: plan, token, files, record, try; and back."""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from hubbub.client import Hub, HubRefused, HubUnreachable, owner_token, segment
from hubbub.clients import install_record
from hubbub.clients.hook import ringer_process
from hubbub.clients.hook.main import RUNG
from hubbub.clients.install import detection, undo
from hubbub.clients.install.client_installer import (
    PROJECT,
    USER,
    VARIABLE,
    ClientInstaller,
    InstallRequest,
    UserFolders,
)
from hubbub.clients.install.file_changes import missing_folders, remove_empty
from hubbub.clients.install.install_plan import CannotInstall, InstallPlan
from hubbub.clients.install.verify import verify
from hubbub.clients.install_record import Install
from hubbub.clients.wake import ringer
from hubbub.terminal.command import Choice
from hubbub.terminal.credentials import read_token, write_token

NO_TOKEN_YET = "ntok_…"
RINGER_SECONDS, LOOK_SECONDS = 10.0, 0.05  # at most for it to begin, and between two looks


@dataclass(frozen=True, slots=True)
class InstallOptions:
    """The person's options. `config` is hubbub's own folder of configuration."""

    client: ClientInstaller
    scope: str
    folder: Path
    config: Path
    dry_run: bool
    force: bool

    def earlier(self, installs: Sequence[Install]) -> Install | None:
        """Return the existing install, if there is one."""
        place = self.client.name, self.scope, str(self.folder) if self.scope == PROJECT else None
        return next((each for each in installs if install_record.place(each) == place), None)


@dataclass(frozen=True, slots=True)
class InstallOutcome:
    """The result: the changed files, the remaining steps, and a sentence."""

    sentence: str
    changed: Sequence[str] = ()
    diff: str = ""
    notes: Sequence[str] = ()
    conflicts: Sequence[str] = ()
    well: bool = True

    def facts(self) -> dict[str, Any]:
        """Return the result as `--json` shows it."""
        return asdict(self)


def install_client(
    wish: InstallOptions, choice: Choice, *, agent: str, url: str, data: Path | None, project: str
) -> InstallOutcome:
    """Install the client as `agent` of the hub at `url`. Raises `CannotInstall`, `HubRefused` and `HubUnreachable`."""
    file = install_record.token_file(wish.config, agent)
    request = InstallRequest(
        wish.scope,
        wish.folder,
        agent,
        url,
        project,
        NO_TOKEN_YET,
        file,
        wish.config,
        data,
        UserFolders.this(),
    )
    installs = install_record.read(wish.config)
    earlier = wish.earlier(installs)
    others = [each for each in installs if each is not earlier]
    _require_free(request, others, wish)
    plan = _planned(wish, replace(request, token=read_token(file) or NO_TOKEN_YET), earlier)
    if plan.conflicts and not wish.force:
        sentence = f"{'; '.join(plan.conflicts)}; nothing was changed; replace it with --force"
        return InstallOutcome(sentence, _changed(plan), plan.diff(), plan.notes, plan.conflicts, well=False)
    if wish.dry_run:
        tokens = _token_notes(plan, request.token, "would be")
        notes = [*plan.notes, *tokens, *wish.client.notes(request)]
        return InstallOutcome(_would(plan), _changed(plan), plan.diff(), notes)
    folders = missing_folders(file)
    with closing(replace(choice, url=url, project=project).connect()) as hub:
        token, token_id, is_new = _token(hub, wish.client, request, installs)
        made = _Made(wish, replace(request, token=token), token_id, earlier, folders)
        try:
            installed = made.install()
        except BaseException:
            if is_new:
                file.unlink(missing_ok=True)
                remove_empty(folders)
                _revoke(hub, token_id)
            raise
    forgotten = [] if earlier is None else _forget_token(earlier, [*others, installed[1]], choice)
    return made.outcome(installed, forgotten)


def uninstall_client(wish: InstallOptions, choice: Choice, agent: str | None = None) -> InstallOutcome:
    """Take back what the install did, and the token too if no other needs it. `agent` must be its name, if given."""
    installs = install_record.read(wish.config)
    earlier = wish.earlier(installs)
    if earlier is None:
        where = f" in {wish.folder}" if wish.scope == PROJECT else ""
        raise CannotInstall(
            f"{wish.client.title} is not connected to a hub{where}; see hubbub install --list"
        )
    if agent not in {None, earlier.agent}:
        raise CannotInstall(
            f"{wish.client.title} is installed as {earlier.agent}, not {agent}; nothing was changed"
        )
    others = [each for each in installs if each is not earlier]
    plan = InstallPlan()
    undo.undo(plan, earlier.changes)
    if wish.dry_run:
        return InstallOutcome(_would(plan), _changed(plan), plan.diff(), plan.notes)
    plan.apply(wish.config, lambda: install_record.remove(wish.config, earlier))
    if not ringer.rings_for(wish.config, None):
        ringer_process.stop(str(wish.config))
    notes = [*plan.notes, *_forget_token(earlier, others, choice)]
    remove_empty(plan.folders)  # once more: until now the token was in one of them
    gone = f"{wish.client.title} is not connected as {earlier.agent} any more"
    return InstallOutcome(gone, _changed(plan), "", notes)


@dataclass(frozen=True, slots=True)
class _Made:
    """An install on its way, with everything it needs. `folders` were made for its token."""

    wish: InstallOptions
    request: InstallRequest
    token_id: str | None
    earlier: Install | None
    folders: Sequence[Path]

    def install(self) -> tuple[InstallPlan, Install]:
        plan = _planned(self.wish, self.request, self.earlier)
        request = self.request
        plan.own_folders(request.token_file, self.folders)
        installed = Install(
            client=self.wish.client.name,
            scope=request.scope,
            folder=None if request.is_user else str(request.folder),
            agent=request.agent,
            url=request.url,
            project=request.project,
            token_file=str(request.token_file),
            token_id=self.token_id,
            installed_at=time.time_ns() // 1_000_000,
            changes=plan.done,
        )
        plan.apply(self.wish.config, lambda: install_record.put(self.wish.config, installed))
        if installed.client in RUNG:
            ringer_process.start(str(self.wish.config))
        return plan, installed

    def outcome(self, made: tuple[InstallPlan, Install], forgotten: Sequence[str]) -> InstallOutcome:
        plan, installed = made
        notes = [
            *plan.notes,
            *_token_notes(plan, self.request.token, "is"),
            *self.wish.client.notes(self.request),
            *self.wish.client.restart,
            *self._left_behind(),
            *forgotten,
        ]
        verdict = verify(installed, _without_token(os.environ, self.request.variable))
        if installed.client in RUNG:
            _wait_for_ringer(self.wish.config)
        is_same = self.earlier is not None and plan.is_empty()
        done = f"{self.wish.client.title} is {'already ' if is_same else ''}"
        found = (
            f"connected: {verdict.found}" if verdict.well else f"set up, but {verdict.found}; {verdict.do}"
        )
        program = detection.missing_program(self.wish.client.name, self.request.machine)
        start = f"; `{program}` itself is not on your PATH: install it, then start it" if program else ""
        return InstallOutcome(done + found + start, _changed(plan), "", notes, well=verdict.well)

    def _left_behind(self) -> list[str]:
        """Tell where the mail of the client's earlier name is, if it had another."""
        old = self.request.agent if self.earlier is None else self.earlier.agent
        if old == self.request.agent:
            return []
        return [f"it was {old} until now; what waits for {old} stays at the hub: hubbub inbox {old}"]


def _wait_for_ringer(config: Path) -> None:
    """Wait for the ringer, so that it is ready for letters after the install; `hubbub doctor` names obstacles."""
    deadline = time.monotonic() + RINGER_SECONDS
    while not ringer_process.runs(str(config)) and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)


def _planned(wish: InstallOptions, request: InstallRequest, earlier: Install | None) -> InstallPlan:
    """Plan over an earlier install of the same client: that one is undone first, in memory."""
    plan = InstallPlan()
    if earlier is not None:
        plan.held = undo.held(plan.files, earlier.changes)
        undo.undo(plan, earlier.changes)
    plan.add(wish.client.changes(request))
    if not request.is_user:
        plan.require_inside(request.folder)
    return plan


def _without_token(environment: Mapping[str, str], own: str) -> dict[str, str]:
    """Return a client's environment: ours without the token of the person, and the agent's, which may be an old one."""
    return {name: value for name, value in environment.items() if name not in {VARIABLE, own}}


def _changed(plan: InstallPlan) -> list[str]:
    return [str(each) for each in plan.files.changed()]


def _would(plan: InstallPlan) -> str:
    return "nothing would change" if plan.is_empty() else "nothing was changed: this was a dry run"


def _require_free(request: InstallRequest, others: Sequence[Install], wish: InstallOptions) -> None:
    """Raise `CannotInstall` if another client, or an install at another hub, has the agent's name."""
    for each in others:
        is_elsewhere = (each.url, each.project) != (request.url, request.project)
        is_another = each.client != wish.client.name
        if each.agent != request.agent or wish.force or not (is_elsewhere or is_another):
            continue
        place = f" of project {each.project} at {each.url}" if is_elsewhere else ""
        scope = "" if each.scope == USER else f" --scope {each.scope}"
        raise CannotInstall(
            f"{each.client} is installed as {each.agent!r}{place}; choose another name with --as, or first run: "
            f"hubbub install {each.client}{scope} --uninstall (with --force, both are one agent)"
        )


def _token_notes(plan: InstallPlan, token: str, verb: str) -> list[str]:
    """Tell which changed files of the client hold, or would hold, the agent's token."""
    files = [str(path) for path in plan.files.changed() if token in (plan.files.read(path) or "")]
    return [f"the agent's token {verb} in {' and '.join(files)}, which only you can read"] if files else []


def _token(
    hub: Hub, client: ClientInstaller, request: InstallRequest, installs: Sequence[Install]
) -> tuple[str, str | None, bool]:
    """Return the agent's token, its id at the hub, and whether it was made just now."""
    kept = read_token(request.token_file)
    if kept is not None and _is_good(hub, kept, request):
        known = (each.token_id for each in installs if each.token_file == str(request.token_file))
        return kept, next(known, None), False
    made = hub.post("/tokens", {"agent": request.agent, "role": "member", "program": client.name})
    write_token(request.token_file, made["secret"])
    return made["secret"], made["token"]["id"], True


def _is_good(hub: Hub, token: str, request: InstallRequest) -> bool:
    """Tell whether the token still stands for this agent in this project."""
    try:
        me = hub.acting_with(token).get("/me")
    except HubRefused:
        return False
    return bool(
        me["agent"] == request.agent and [each["slug"] for each in me["projects"]] == [request.project]
    )


def _forget_token(gone: Install, others: Sequence[Install], choice: Choice) -> list[str]:
    """Revoke the token and remove its file, unless another install uses it; return failures as sentences."""
    if any(each.token_file == gone.token_file for each in others):
        return []
    file = Path(gone.token_file)
    file.unlink(missing_ok=True)
    remove_empty([file.parent, file.parent.parent])
    person = replace(choice, url=gone.url).signed_in().token or owner_token(choice.data)
    if gone.token_id is None or person is None:
        return [f"the token of {gone.agent} is still valid at {gone.url}; see hubbub token list"]
    with closing(Hub(gone.url, person)) as hub:
        if _revoke(hub, gone.token_id):
            return []
    return [
        f"the token of {gone.agent} is still valid; take it back with: hubbub token revoke {gone.token_id}"
    ]


def _revoke(hub: Hub, token_id: str | None) -> bool:
    try:
        hub.delete(f"/tokens/{segment('token', token_id or '')}")
    except (HubRefused, HubUnreachable):
        return False
    return True
