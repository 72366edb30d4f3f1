"""`hubbub migrate`: brings the database to the program's version."""

import click

from hubbub import settings
from hubbub.store import migrate as migrations
from hubbub.terminal import display
from hubbub.terminal.command import command, data_option


@command(
    "migrate",
    short_help="Upgrade the database to this version.",
    example="hubbub migrate --database postgresql://…",
)
@data_option
@click.option(
    "--database", metavar="URL", help="Database, as postgresql://… [default: SQLite in the data folder]"
)
def migrate(*, data: str | None, database: str | None, as_json: bool) -> None:
    """Upgrade the database to this version of hubbub. SQLite is backed up first; its hub must not run."""
    chosen = settings.read(data=data, database=database)
    if chosen.database is not None:
        from hubbub.store.engine.postgres import Postgres

        version = Postgres.migrate(chosen.database)
    else:
        from hubbub.store.engine.sqlite import SQLite

        SQLite.open(chosen.data).close()
        version = max(each.number for each in migrations.known())
    display.show_result({"version": version}, f"the database is at version {version}", as_json=as_json)
