"""A world for programs to be read in."""

from shellgate.filesystem import Disk
from shellgate.world import World


def world(cwd: str = "/ada/proj", home: str = "/ada", **variables: str) -> World:
    """A machine with a home, and a project in it; there need be no such folders."""
    return World(home=home, cwd=cwd, roots=(cwd,), own=(), files=Disk(), variables=variables)
