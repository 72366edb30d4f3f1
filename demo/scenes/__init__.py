"""The scenes of the demo. A scene is a module with one function, whose docstring is its title; `curtain` ends it."""

from collections.abc import Callable

from demo.scenes import (
    arrival,
    collision,
    failure,
    fleet,
    killed_agent,
    killed_hub,
    machine,
    parts,
    team,
    team_without_hub,
    urgency,
)
from demo.stage import Stage

Scene = Callable[[Stage], None]

SCENES: tuple[Scene, ...] = (
    arrival.play,
    urgency.play,
    failure.play,
    parts.play,
    killed_agent.play,
    killed_hub.play,
    team.play,
    team_without_hub.play,
    collision.play,
    machine.play,
    fleet.play,
)
