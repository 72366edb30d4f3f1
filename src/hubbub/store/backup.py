"""A copy of a whole SQLite database while it is in use."""

from pathlib import Path

import apsw

from hubbub.model.errors import StoreRefused
from hubbub.processes import durable_files


def copy(db: apsw.Connection, target: Path) -> None:
    """Write everything committed so far to the new file `target`, which only its owner may read.

    It takes a while for a large database, and blocks no writer. The file appears when it is complete; a failed
    copy leaves nothing behind. Raises `StoreRefused` if the file exists, or its folder does not.
    """
    require_new(target)
    partial = target.with_name(f".{target.name}.partial")
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600, exist_ok=False)
    try:
        db.execute("VACUUM INTO ?", (str(partial),))
        durable_files.sync(partial)
        partial.rename(target)
    finally:
        for each in (partial, partial.with_name(f"{partial.name}-journal")):
            each.unlink(missing_ok=True)
    durable_files.sync(target.parent)


def require_new(target: Path) -> None:
    """Raise `StoreRefused` if the file exists, or its folder does not."""
    if target.exists():
        raise StoreRefused(f"{target.name} exists already; name a file that does not")
    if not target.parent.is_dir():
        raise StoreRefused(f"there is no folder to put {target.name} in; make it first")
