"""A machine as the gate knows it: a home in a folder of the test's own, and a project in it."""

from pathlib import Path

from shellgate.filesystem import Disk
from shellgate.world import World


def world(folder: Path) -> World:
    """`home`, with the project `proj` in it where relative paths begin; another's home is `other`."""
    home, other = folder.resolve() / "home", folder.resolve() / "other"
    for each in (home / "proj", other):
        each.mkdir(parents=True, exist_ok=True)
    return World(
        home=str(home),
        cwd=str(home / "proj"),
        roots=(str(home / "proj"),),
        own=(str(home / ".config" / "hubbub"), str(folder.resolve() / "hub-data")),
        homes=(str(other),),
        files=Disk(),
        user="ada",
        lookup={"ada": str(home), "bob": str(other)}.get,
    )
