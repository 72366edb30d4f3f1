"""Credentials of an agent in one project: a person's token is exchanged for a member's, kept for the next start."""

import hashlib
from dataclasses import replace
from pathlib import Path

import click

from hubbub import settings
from hubbub.client import Hub, HubRefused
from hubbub.clients import install_record
from hubbub.processes import durable_files
from hubbub.terminal.command import DEFAULT_PROJECT, PERSON, Choice

NOT_VALID = 401


def act(choice: Choice, agent: str | None = None) -> Hub:
    """Return the chosen hub with a member's token of the chosen project, else of `default`.

    A person's token is exchanged for a member's, bound to `agent` if that is given. A project's token
    stays as it is; the hub refuses it if it is bound to another agent.
    """
    hub = choice.connect()
    if not hub.token.startswith(PERSON):
        return hub
    hub.project = choice.project or DEFAULT_PROJECT
    file = _file(choice, hub, agent)
    kept = read_token(file)
    if kept is not None and _is_valid(hub.acting_with(kept)):
        return hub.acting_with(kept)
    secret: str = hub.post("/tokens", {"agent": agent, "role": "member"})["secret"]
    write_token(file, secret)
    return hub.acting_with(secret)


def installed(choice: Choice, agent: str | None) -> Choice:
    """Return the choice with the token that an install keeps for `agent`, if one is named."""
    if agent is None:
        return choice
    token = read_token(install_record.token_file(settings.read().config, agent))
    if token is None:
        raise click.UsageError(f"no client is installed as {agent!r}; see hubbub install --list")
    return replace(choice, token=token)


def has_acted(choice: Choice) -> bool:
    """Tell whether a person's token was exchanged at the chosen hub before, so that it exists, even if it is down."""
    hub = choice.connect()
    hub.project = choice.project or DEFAULT_PROJECT
    hub.close()
    return _file(choice, hub, None).exists()


def _file(choice: Choice, hub: Hub, agent: str | None) -> Path:
    """Return the file of the token: one for each hub, person, project and agent."""
    whose = "\n".join((choice.url or "", hub.token, hub.project or "", agent or ""))
    return choice.data / "tokens" / hashlib.sha256(whose.encode()).hexdigest()[:32]


def _is_valid(hub: Hub) -> bool:
    try:
        hub.get("/me")
    except HubRefused as error:
        if error.status != NOT_VALID:
            raise
        return False
    return True


def read_token(file: Path) -> str | None:
    """Return the token in a file; None if there is none."""
    try:
        return file.read_text("utf-8").strip() or None
    except FileNotFoundError:
        return None


def write_token(file: Path, token: str) -> None:
    """Store a token, readable for its owner alone."""
    durable_files.make_folder(file.parent, 0o700)
    durable_files.write(file, token)
