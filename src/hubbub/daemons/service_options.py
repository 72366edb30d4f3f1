"""System services for every command that installs one: the options, and their effect."""

import os
import pwd
import subprocess
from collections.abc import Callable
from typing import Any

import click

from hubbub import settings
from hubbub.daemons.system_service import ASKED_BY, ServiceProgram, SystemService, service_for
from hubbub.settings import Settings
from hubbub.terminal import display


def installs(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of every command that installs a service, in the form that `put` takes."""
    for option in (
        click.option("--start", is_flag=True, help="Start it too."),
        click.option(
            "--print", "only_shown", is_flag=True, help="Show what would be installed; change nothing."
        ),
        click.option(
            "--system", "whole_system", is_flag=True, help="Start it with the machine, not with your login."
        ),
    ):
        function = option(function)
    return function


def read_settings(*, whole_system: bool, **given: str | None) -> Settings:
    """Return the settings of the service's user: under sudo, the person who called it. Raises `Invalid`."""
    asked = os.environ.get(ASKED_BY)
    if whole_system and asked:
        os.environ["HOME"] = pwd.getpwnam(asked).pw_dir
    return settings.read(**given)


def put(kept: ServiceProgram, *, whole_system: bool, only_shown: bool, start: bool, as_json: bool) -> None:
    """Install the service, or only show it, and print the remaining steps.

    Raises `Invalid` if the system has no supported services, `click.ClickException` if it does not start this one.
    """
    found = service_for(kept, whole_system=whole_system)
    if not only_shown:
        found.write()
        if start:
            _start(found)
    if as_json:
        facts = {"file": str(found.file), "content": found.content, "command": found.starting}
        display.show_json(facts)
    elif only_shown:
        display.show(found.content.rstrip("\n"))
    else:
        display.show(f"installed {found.file}")
        if not start:
            display.show(f"start it with: {found.starting}")


def _start(installed: SystemService) -> None:
    """Start the service. Raises `click.ClickException` if the system does not start it."""
    try:
        done = subprocess.run(installed.start, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise click.ClickException(f"it is installed, but there is no {installed.start[0]} here") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise click.ClickException(
            display.clean(f"it is installed, but does not start: {said[-1] if said else 'no reason given'}")
        )
