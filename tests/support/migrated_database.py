"""An empty database of this version, to be copied: to apply all migrations takes longer than most tests."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from hubbub.store.engine.sqlite import DATABASE, SQLite


def migrated(folder: Path) -> Path:
    """The data folder, with an empty database that needs no migration; one that is there already stays as it is."""
    file = folder / DATABASE
    if not file.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_bytes(_template())
    return folder


@cache
def _template() -> bytes:
    with TemporaryDirectory(prefix="hubbub-template-") as folder:
        SQLite.open(Path(folder)).close()
        return Path(folder, DATABASE).read_bytes()
