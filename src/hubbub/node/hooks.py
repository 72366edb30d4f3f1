"""What the gate's floor says of a team's hooks: they are the operator's own, so it judges them, and nobody is asked."""

import os
from pathlib import Path

from hubbub import settings
from hubbub.node.gate.decision import Effect
from hubbub.node.gate.floor import commands
from hubbub.node.machine import Surroundings
from hubbub.node.policy import Policy


def denial(command: str, root: Path) -> str | None:
    """Why the floor denies a hook that runs in the folder `root`, as a clause; None if it does not."""
    chosen = settings.read()
    around = Surroundings(
        home=Path.home(), cwd=root, own=(chosen.data, chosen.config), environment=os.environ
    )
    reading = commands.read(command, around.world(Policy(roots=(root,))))
    found = (*reading.floor, *(each for part in reading.parts for each in part.floor))
    denied = next((each for each in found if each.effect is Effect.DENY), None)
    return f"the gate denies it by {denied.rule_id}: {denied.reason.rstrip('.')}" if denied else None
