"""`hubbub install-service`: the hub as a service of the system."""

import json
import plistlib
import pwd
from pathlib import Path

import pytest

from hubbub.daemons.system_service import HubProgram, service_for
from hubbub.model.programs.launching import program
from tests.cli.processes import hubbub
from tests.cli.services import complaints


@pytest.mark.parametrize("whole_system", [False, True])
def test_systemd_takes_the_unit(tmp_path: Path, whole_system: bool) -> None:
    """The unit of the hub is one that systemd has nothing to say about."""
    hub = HubProgram(data=tmp_path, config=tmp_path / "config", cwd=tmp_path, options=("--port=9000",))

    assert complaints(service_for(hub, whole_system=whole_system, system="linux"), tmp_path) == []


def test_launchd_starts_the_same(tmp_path: Path) -> None:
    """On macOS a property list starts the same command, and what the hub says goes where `hubbub up` has it."""
    hub = HubProgram(data=tmp_path, config=tmp_path / "config", cwd=tmp_path)
    facts = plistlib.loads(service_for(hub, whole_system=False, system="darwin").content.encode())

    command = [*program(), "serve", "--quiet", "--data", str(tmp_path)]
    assert facts["ProgramArguments"] == command
    assert facts["StandardErrorPath"] == str(tmp_path / "hub.log")
    assert facts["SoftResourceLimits"]["NumberOfFiles"] > 10_000


def test_it_is_shown_without_being_installed(tmp_path: Path) -> None:
    """`--print` shows the unit, with the options that were given, and changes nothing; there is no secret in it."""
    secrets = {"HUBBUB_TOKEN": "utok_secret", "HUBBUB_GITHUB_TOKEN": "secret", "HUBBUB_DATABASE": ""}
    options = ("--port", "9000", "--public-url", "https://hub.example.com", "--no-node")
    done = hubbub("install-service", "--print", *options, data=tmp_path / "data", environment=secrets)

    assert done.returncode == 0
    assert '"--port=9000" "--public-url=https://hub.example.com" "--no-node"' in done.stdout
    assert "secret" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_it_keeps_the_settings_of_the_environment(tmp_path: Path) -> None:
    """What the environment sets is kept for the service in a file of its user alone, and a later install adds to it."""
    data, home = tmp_path / "data", {"HOME": str(tmp_path), "XDG_CONFIG_HOME": ""}
    database = "postgresql://hubbub:secret@db.example.com/hub"
    first = {"HUBBUB_DATABASE": database, "PGPASSWORD": "secret", "HUBBUB_GITHUB_TOKEN": "secret"}
    hubbub("install-service", data=data, environment={**home, **first})
    second = {"HUBBUB_PUBLIC_URL": "https://hub.example.com", "HUBBUB_GITHUB_TOKEN": "", "HUBBUB_PORT": "1"}
    done = hubbub("install-service", "--port", "9000", data=data, environment={**home, **second})

    file = data / ".env.service"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_text().splitlines() == [
        f"HUBBUB_DATABASE={database}", "PGPASSWORD=secret", "HUBBUB_PUBLIC_URL=https://hub.example.com",
    ]  # fmt: skip
    unit = (tmp_path / ".config" / "systemd" / "user" / "hubbub.service").read_text()
    assert f'"--environment" "{file}" "--port=9000"' in unit
    assert "secret" not in unit + done.stdout + done.stderr
    told = f"Its settings are in {file}: HUBBUB_DATABASE, HUBBUB_PUBLIC_URL, PGPASSWORD\n"
    assert (done.returncode, done.stderr) == (0, told)


def test_the_hub_takes_the_settings_of_the_file(tmp_path: Path) -> None:
    """What the service runs takes its settings from the file; what the environment says comes before it."""
    file = tmp_path / "settings"
    file.write_text("HUBBUB_PORT=many\nHUBBUB_HOST=\n")
    refused = hubbub("serve", "--environment", str(file), data=tmp_path / "data")
    assert "HUBBUB_PORT must be a whole number" in refused.stderr
    other = {"HUBBUB_PORT": "more"}
    assert "'more'" in hubbub("serve", "--environment", str(file), data=tmp_path, environment=other).stderr


def test_a_service_without_its_database_is_not_installed(tmp_path: Path) -> None:
    """Where the hub's data is in PostgreSQL and nobody says so, no service is installed that would not start."""
    (tmp_path / "database").write_text("postgresql://hubbub@db.example.com/hub\n")
    done = hubbub("install-service", "--print", data=tmp_path)
    assert (done.returncode, "set HUBBUB_DATABASE to that address" in done.stderr) == (1, True)


@pytest.mark.parametrize("command", [("install-service",), ("node", "install-service")], ids=" ".join)
def test_under_sudo_it_is_the_service_of_who_asked(tmp_path: Path, command: tuple[str, ...]) -> None:
    """For the whole system it works as whoever called sudo, with their folders and not those of root."""
    asked = pwd.getpwall()[-1]
    folders = {"HUBBUB_DATA": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "HOME": str(tmp_path)}
    environment = {**folders, "SUDO_USER": asked.pw_name}
    unit = hubbub(*command, "--system", "--print", data=tmp_path, environment=environment).stdout

    assert f"\nUser={asked.pw_name}\n" in unit
    assert f'"--data" "{asked.pw_dir}/.local/share/hubbub"' in unit
    assert f'"HUBBUB_CONFIG={asked.pw_dir}/.config/hubbub"' in unit


def test_what_cannot_be_served_is_not_installed(tmp_path: Path) -> None:
    """A setting that the hub would refuse is refused here, before there is a service that does not start."""
    done = hubbub("install-service", "--port", "many", data=tmp_path / "data")

    assert done.returncode == 2
    assert "--port must be a whole number" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_it_is_installed_and_started_by_a_person(tmp_path: Path) -> None:
    """The unit is put where systemd looks for it, and the one command that starts it is said, but not run."""
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": ""}
    done = hubbub("install-service", data=tmp_path / "data", environment=home)

    file = tmp_path / ".config" / "systemd" / "user" / "hubbub.service"
    assert (done.returncode, file.exists()) == (0, True)
    assert "start it with: systemctl --user enable --now hubbub\n" in done.stdout
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0

    told = hubbub("install-service", "--json", data=tmp_path / "data", environment=home)
    assert json.loads(told.stdout)["content"] == file.read_text()
