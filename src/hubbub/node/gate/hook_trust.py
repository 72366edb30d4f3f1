"""Trust in a team's hooks: the gate's floor judges each, and a person has to have seen it once.

Hooks come with a project, as its skills do, so the author of a cloned repository could run anything by them. A hook is
trusted in one folder and word for word; any change makes it another hook.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from hubbub import settings
from hubbub.model.programs import extras
from hubbub.node.gate.host_facts import HostFacts
from hubbub.node.policy.node_policy import Policy
from hubbub.node.policy.seen_hashes import SeenHashes
from shellgate.decision import Effect

FILE = "hooks.json"
UNSEEN = (
    "no person has seen it yet, or it has changed since: one has to say yes by `hubbub approve` when this is tried,"
    " or run `hubbub trust` in the project"
)


def denial(command: str, root: Path, data: Path | None = None) -> str | None:
    """Return why a hook must not run in the folder `root`, as a clause; None if it may.

    `data` is the folder with the memory of seen hooks: by default the configured one.
    """
    try:
        with extras.required():
            from shellgate.floor import commands  # its parser is not needed without hooks
    except extras.NotInstalled as error:
        return f"nothing can judge it here: {error}"
    chosen = settings.read()
    around = HostFacts(home=Path.home(), cwd=root, own=(chosen.data, chosen.config), environment=os.environ)
    reading = commands.read(command, around.world(Policy(roots=(root,))))
    found = (*reading.floor, *(each for part in reading.parts for each in part.floor))
    denied = next((each for each in found if each.effect is Effect.DENY), None)
    if denied is not None:
        return f"the gate denies it by {denied.rule_id}: {denied.reason.rstrip('.')}"
    return None if is_seen(command, root, data or chosen.data) else UNSEEN


def is_seen(command: str, root: Path, data: Path) -> bool:
    """Tell whether a person has let this hook run in the folder."""
    name, digest = _pin(command, root)
    return SeenHashes(data / FILE).digest(name) == digest


def trust(hooks: Iterable[str], root: Path, data: Path) -> None:
    """Let these hooks run in the folder from now on."""
    SeenHashes(data / FILE).add(dict(_pin(command, root) for command in hooks))


def _pin(command: str, root: Path) -> tuple[str, str]:
    """Return the name under which a hook is remembered, for people to read, and its hash."""
    name = f"{root.resolve()}: {command}"
    return name, hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
