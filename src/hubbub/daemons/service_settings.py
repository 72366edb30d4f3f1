"""The settings that a service keeps from the environment of who installs it: in a file that only its user may read.

`hubbub serve --environment FILE` reads them, on each system alike; a unit or a property list would show them to others.
The name of the file is one that the gate keeps from agents.
"""

import os
import pwd
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from hubbub.model.errors import Invalid
from hubbub.processes import durable_files
from hubbub.settings import Settings, variable

FILE = ".env.service"  # in the data folder
FOLDER_MODE = 0o700
IN_THE_UNIT = ("data", "config")
OF_POSTGRES = "PG"  # of libpq: where the password is, or what it is


def kept(folder: Path, environment: Mapping[str, str], *, without: tuple[str, ...]) -> dict[str, str]:
    """Return what the service is to have: what it has already, and what the environment says now.

    An empty variable ends one. Those `without`, which its command line has, are left out. Raises `Invalid`.
    """
    others = (*IN_THE_UNIT, *without)
    names = [variable(each.name) for each in fields(Settings) if each.name not in others]
    if environment.get(variable("database")):
        names += [name for name in environment if name.startswith(OF_POSTGRES)]
    given = {name: environment[name] for name in names if name in environment}
    for name, value in given.items():
        if not value.isprintable():
            raise Invalid(f"{name} must be one line of printable characters")
    unwanted = {variable(name) for name in without}
    return {
        name: value for name, value in (read(folder / FILE) | given).items() if value and name not in unwanted
    }


def read(file: Path) -> dict[str, str]:
    """Return the variables in the file; none if there is no such file. Raises `Invalid` for an unreadable one."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError):
        raise Invalid(f"{file} cannot be read; its lines are NAME=VALUE") from None
    return {name.strip(): value for name, _is, value in (line.partition("=") for line in lines) if value}


def write(folder: Path, variables: Mapping[str, str], *, user: str | None) -> None:
    """Write the file for the service's user alone, who is `user` if that is not this one. Raises `OSError`."""
    file = folder / FILE
    is_new = not folder.exists()
    durable_files.make_folder(folder, FOLDER_MODE)
    durable_files.write(file, "".join(f"{name}={value}\n" for name, value in variables.items()))
    if user is not None:
        account = pwd.getpwnam(user)
        for each in (folder, file) if is_new else (file,):
            os.chown(each, account.pw_uid, account.pw_gid)
