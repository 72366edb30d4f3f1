"""`hubbub node install-service`: the node as a service of the system."""

import json
import plistlib
from pathlib import Path

import pytest

from hubbub.daemons.system_service import NodeProgram, SystemService, service_for
from hubbub.model.errors import Invalid
from hubbub.model.programs.launching import program
from tests.cli.processes import hubbub
from tests.cli.services import complaints

STRANGE = 'da ta%h$HOME"\\x'


def _service(folder: Path, *, whole_system: bool = False, system: str = "linux") -> SystemService:
    """The service of a node whose folders and files have strange names."""
    place = folder / STRANGE
    place.mkdir(exist_ok=True)
    node = NodeProgram(data=place, config=place / "config", cwd=folder, policy=place / "p.toml")
    return service_for(node, whole_system=whole_system, system=system)


@pytest.mark.parametrize("whole_system", [False, True])
def test_systemd_takes_the_unit(tmp_path: Path, whole_system: bool) -> None:
    """The unit is one that systemd has nothing to say about, also with strange folders in it."""
    assert complaints(_service(tmp_path, whole_system=whole_system), tmp_path) == []


def test_systemd_reads_what_was_meant(tmp_path: Path) -> None:
    """Percent signs, dollars, quotes and backslashes are those of the path when systemd has read them."""
    content = _service(tmp_path).content

    escaped = STRANGE.replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"')
    assert f'"{tmp_path}/{escaped.replace("$", "$$")}"' in content
    assert f'"HUBBUB_CONFIG={tmp_path}/{escaped}/config"' in content


def test_launchd_reads_what_was_meant(tmp_path: Path) -> None:
    """The property list starts the same command, as a user's agent or for the whole machine as that user."""
    own, whole = (_service(tmp_path, whole_system=each, system="darwin") for each in (False, True))
    facts = plistlib.loads(own.content.encode())

    place = str(tmp_path / STRANGE)
    assert facts["ProgramArguments"] == [
        *program(), "node", "run", "--data", place, "--config", f"{place}/p.toml",
    ]  # fmt: skip
    assert facts["EnvironmentVariables"] == {"HUBBUB_CONFIG": f"{place}/config"}
    assert "UserName" not in facts
    assert plistlib.loads(whole.content.encode())["UserName"]
    assert whole.start[:3] == ("sudo", "launchctl", "bootstrap")


def test_no_other_system_has_services_for_us(tmp_path: Path) -> None:
    """Elsewhere it is said what is needed, and what to do without."""
    with pytest.raises(Invalid, match="start hubbub node run"):
        _service(tmp_path, system="win32")


def test_it_is_shown_without_being_installed(tmp_path: Path) -> None:
    """`--print` shows the unit and changes nothing; there is no secret in it."""
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "HUBBUB_TOKEN": "utok_secret"}
    done = hubbub("node", "install-service", "--print", data=tmp_path / "data", environment=home)

    assert done.returncode == 0
    assert " ".join(f'"{word}"' for word in (*program(), "node", "run")) in done.stdout
    assert "secret" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_it_is_installed_and_started_by_a_person(tmp_path: Path) -> None:
    """The unit is put where systemd looks for it, and the one command that starts it is said, but not run."""
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": ""}
    done = hubbub("node", "install-service", data=tmp_path / "data", environment=home)

    file = tmp_path / ".config" / "systemd" / "user" / "hubbub-node.service"
    assert (done.returncode, file.exists()) == (0, True)
    assert "start it with: systemctl --user enable --now hubbub-node" in done.stdout
    assert "hubbub node run --join CODE" in done.stderr

    told = hubbub("node", "install-service", "--json", data=tmp_path / "data", environment=home)
    assert json.loads(told.stdout)["content"] == file.read_text()
