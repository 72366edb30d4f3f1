"""Where a hub's data is if it is not in its folder: a file of one line, so that nobody starts an empty hub by mistake.

The line is the address of the PostgreSQL database, for people; it has no password, and nothing connects by it.
"""

from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from hubbub.model.errors import StoreRefused
from hubbub.processes import durable_files

FILE = "database"
SHOWN = ("host", "port", "user", "dbname")  # of the parameters; others may be secrets, or lead to them


def remember(folder: Path, url: str) -> None:
    """Note that the hub of this folder keeps its data in the database at `url`."""
    line = without_secrets(url)
    if remembered(folder) != line:
        durable_files.write(folder / FILE, f"{line}\n")


def forget(folder: Path) -> None:
    """Note that the hub of this folder keeps its data in the folder."""
    (folder / FILE).unlink(missing_ok=True)


def remembered(folder: Path) -> str | None:
    """Return the address where the data of this folder's hub is; None if it is in the folder."""
    try:
        return (folder / FILE).read_text("utf-8").strip() or None
    except (OSError, ValueError):
        return None


def require_none(folder: Path) -> None:
    """Raise `StoreRefused`, with what to do, if the data of this folder's hub is elsewhere."""
    if (address := remembered(folder)) is not None:
        raise StoreRefused(
            f"this hub keeps its data in PostgreSQL, at {address}: set HUBBUB_DATABASE to that address, "
            f"or, for an empty hub on SQLite, delete {folder / FILE}"
        )


def without_secrets(url: str) -> str:
    """Return the address without its password and its lesser parameters."""
    parts = urlsplit(url)
    login, at, place = parts.netloc.rpartition("@")
    shown = [(name, value) for name, value in parse_qsl(parts.query) if name in SHOWN]
    query = f"?{urlencode(shown, safe='/')}" if shown else ""
    return f"{parts.scheme}://{login.partition(':')[0]}{at}{place}{parts.path}{query}"
