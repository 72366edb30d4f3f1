"""`hubbub import`: importing data of other programs into the hub."""

import asyncio
from pathlib import Path

import click

from hubbub.bridge.companions.remote_documents import RemoteDocuments
from hubbub.cli import Group
from hubbub.client import Hub, HubUnreachable
from hubbub.terminal import display
from hubbub.terminal.command import command, uses_project
from hubbub.workspace.documents import HubAway
from hubbub.workspace.folder_import import ImportedFile, ImportOutcome, import_folder


@click.group("import", cls=Group, short_help="Import the memory of a relay folder.")
def imports() -> None:
    """Import the memory of a relay folder."""


@command("relay", example="hubbub import relay .relay")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@uses_project
def relay(*, hub: Hub, folder: Path, as_json: bool) -> None:
    """Import the memory and the summaries of the relay folder DIR into the project.

    What the hub already has stays, and is merged with the files; doing it again changes nothing. The folder
    stays as it is.
    """
    try:
        done = asyncio.run(_import(hub, folder))
    except HubAway as error:
        raise HubUnreachable(str(error)) from None
    if as_json:
        display.show_json([each._asdict() for each in done])
    else:
        _show(done)
    refused = [each for each in done if each.outcome is ImportOutcome.REFUSED]
    if refused:
        sentences = "; ".join(sentence for each in refused for sentence in each.sentences)
        raise click.ClickException(display.clean(f"{len(refused)} of {len(done)} not imported: {sentences}"))


async def _import(hub: Hub, folder: Path) -> list[ImportedFile]:
    return [each async for each in import_folder(folder, RemoteDocuments(lambda: hub))]


def _show(done: list[ImportedFile]) -> None:
    display.show_table(("file", "became"), [(each.name, each.outcome) for each in done])
    for each in done:
        if each.outcome is not ImportOutcome.REFUSED:
            for sentence in each.sentences:
                display.show(sentence)
    if not done:
        display.show("there is no memory and no summary in this folder")


imports.add_command(relay)
