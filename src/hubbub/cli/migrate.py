"""`hubbub migrate`: the database, brought to the version of the program."""

import click

from hubbub import settings
from hubbub.cli import terminal
from hubbub.cli.command import command, data_option
from hubbub.store import migrate as migrations


@command(
    "migrate",
    short_help="Bring the database to this version.",
    example="hubbub migrate --database postgresql://…",
)
@data_option
@click.option("--database", metavar="URL", help="postgresql://…; else SQLite in the data folder.")
def migrate(*, data: str | None, database: str | None, as_json: bool) -> None:
    """Bring the database to the version of this program. SQLite is backed up first; its hub must not be running."""
    chosen = settings.read(data=data, database=database)
    if chosen.database is not None:
        from hubbub.store.postgres import Postgres

        version = Postgres.migrate(chosen.database)
    else:
        from hubbub.store.sqlite import SQLite

        SQLite.open(chosen.data).close()
        version = max(each.number for each in migrations.known())
    if as_json:
        terminal.show_json({"version": version})
    else:
        terminal.show(f"the database is at version {version}")
