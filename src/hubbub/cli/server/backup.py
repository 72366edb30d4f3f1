"""`hubbub backup`, `restore` and `copy`: a copy of everything, the way back, and the way to the other engine."""

from pathlib import Path

import click

from hubbub import settings
from hubbub.client import OWNER_FILE, Hub
from hubbub.terminal import display
from hubbub.terminal.command import command, data_option, uses_hub

FILE = click.Path(dir_okay=False, path_type=Path)


@command("backup", short_help="Back up the database while the hub runs.", example="hubbub backup monday.db")
@click.argument("file", type=FILE)
@uses_hub
def backup(*, hub: Hub, file: Path, as_json: bool) -> None:
    """Write a copy of the running hub's database to the new file FILE, which only you may read."""
    if file.exists():
        raise click.ClickException(f"{file} exists already; name a file that does not")
    if not file.parent.is_dir():
        raise click.ClickException(f"there is no folder {file.parent} to put it in")
    hub.save("/backup", file)
    size = file.stat().st_size
    display.show_result({"file": str(file), "bytes": size}, f"{file}: {size} bytes", as_json=as_json)


@command("restore", short_help="Replace the database with a backup.", example="hubbub restore monday.db")
@click.argument("file", type=FILE)
@data_option
def restore(*, file: Path, data: str | None, as_json: bool) -> None:
    """Replace the database of the data folder with the backup FILE. The hub must not run; the old database is kept.

    Tokens that were revoked since the backup stay revoked. Members are those of the backup.
    """
    from hubbub.store.engine import database_address
    from hubbub.store.engine import restore as restoring

    chosen = settings.read(data=data)
    if chosen.database is not None:
        raise click.ClickException("this hub keeps its data in PostgreSQL; restore it there, with pg_restore")
    done = restoring.restore(chosen.data, file)
    database_address.forget(chosen.data)
    kept = str(done.kept) if done.kept else None
    if as_json:
        told = {"restored": str(file), "kept": kept, "revoked": done.revoked, "members": done.members}
        display.show_json(told)
    else:
        display.show(f"restored {file}" + (f"; the database that was there is now {kept}" if kept else ""))
        if done.revoked:
            display.show(f"{done.revoked:,} tokens that were revoked since the backup stay revoked")
        if done.members:
            display.show(
                f"{done.members:,} members who were removed since, or have another role, are as in the backup; "
                "look at them: hubbub project member list SLUG"
            )
        if not (chosen.data / OWNER_FILE).exists():
            display.show(
                f"there is no {OWNER_FILE} in the data folder; hubbub serve makes a new one, to get in"
            )


@command("copy", short_help="Move the hub to PostgreSQL, or back.", example="hubbub copy postgresql://…")
@click.argument("target", metavar="TO")
@data_option
@click.option("--database", metavar="URL", help="Database to copy to a file, as postgresql://…")
def copy(*, target: str, data: str | None, database: str | None, as_json: bool) -> None:
    """Copy everything to the other engine. No hub may run on either; what is copied from stays as it is.

    If TO is a postgresql://… address, the SQLite database of the data folder is copied into that empty database.
    If TO is a new file, the PostgreSQL database is copied into it, for hubbub restore.
    """
    from hubbub.store.engine import copy_between, database_address

    if target.startswith(("postgresql://", "postgres://")):
        folder = settings.read(data=data).data
        copied = copy_between.to_postgres(folder, target)
        database_address.remember(folder, target)
        where, then = "PostgreSQL", "Start the hub there: HUBBUB_DATABASE=postgresql://… hubbub up"
    else:
        chosen = settings.read(data=data, database=database)
        source = chosen.database
        if source is None:
            database_address.require_none(chosen.data)
            raise click.UsageError(
                "this hub keeps its data in SQLite, and hubbub backup copies that to a file; "
                "give TO as postgresql://…, or with --database the PostgreSQL database to copy to the file"
            )
        copied = copy_between.to_file(source, Path(target))
        where, then = target, f"Let a hub on SQLite use it: hubbub restore {target}"
    display.show_result(
        {"to": where, "tables": copied.tables, "rows": copied.rows},
        f"copied {copied.rows:,} rows of {copied.tables} tables to {where}, and compared each with what is there now",
        as_json=as_json,
    )
    display.advise(then)
