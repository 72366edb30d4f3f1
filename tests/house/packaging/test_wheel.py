"""The wheel: whoever installs it has all of hubbub, and needs no checkout of its sources."""

import json
import os
import subprocess
import zipfile
from pathlib import Path

import httpx2
import pytest

from hubbub import __version__
from hubbub.model.programs.extras import NotInstalled
from hubbub.serve.documents.library import Library
from tests.house.packaging.package import ROOT, Installed, build
from tests.support.waiting import patience, until

SOURCE = ROOT / "src"
COMPILED = ".pyc"


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def test_everything_is_in_it(wheel: Path) -> None:
    """Each file of the package is in the wheel: code, types, migrations, the dashboard, plugins, the documents."""
    files = {
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*")
        if file.is_file() and file.suffix != COMPILED and file.name != "pyproject.toml"
    }
    documents = {f"hubbub/documents/{each.file}" for each in Library.own().documents.values()}
    kept = {name for name in _names(wheel) if ".dist-info/" not in name}

    assert kept == files | documents
    assert {
        "hubbub/py.typed",
        "hubbub/store/migrations/0001_world.sql",
        "hubbub/serve/dashboard/static/app.js",
        "hubbub/clients/plugin/.claude-plugin/marketplace.json",
        "hubbub/clients/plugin/plugins/hubbub/.mcp.json",
    } <= kept


def test_it_says_what_it_is(wheel: Path) -> None:
    """Its name, its metadata, its licence and its two programs are those of this version."""
    facts = f"hubbub-{__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"{facts}/METADATA").decode()
        programs = archive.read(f"{facts}/entry_points.txt").decode().split()

    assert wheel.name == f"hubbub-{__version__}-py3-none-any.whl"
    assert f"\nVersion: {__version__}\n" in metadata
    assert f"{facts}/licenses/LICENSE" in _names(wheel)
    assert {"hubbub", "hubbub-hook"} <= set(programs)


@pytest.mark.system
def test_it_can_be_built_again(wheel: Path, source: Path, tmp_path: Path) -> None:
    """The same sources make the same bytes at any time, from the source distribution alone, too."""
    for file in source.rglob("*"):
        os.utime(file, (0, 0))

    assert build("wheel", tmp_path, source=source).read_bytes() == wheel.read_bytes()


@pytest.mark.system
def test_a_release_holds_no_leftovers(source: Path) -> None:
    """Stray things in a checkout beside its files, such as caches and environments, do not get into a release."""
    names = {file.name for file in source.rglob("*")}

    assert {"src", "tests", "docs", "Makefile"} <= names
    assert not names & {
        ".git",
        ".venv",
        "__pycache__",
        "node_modules",
        ".hypothesis",
        ".pytest_cache",
        "dist",
    }


def _started(installed: Installed) -> subprocess.CompletedProcess[str] | None:
    """Start the hub with `up` and return the result once it reports that the hub runs."""
    up = installed.run("hubbub", "up", "--port", "0", "--json")
    return None if up.returncode else up


@pytest.mark.system
def test_it_works_where_it_is_installed(installed: Installed) -> None:
    """Without sources and extras, from another folder: a hub starts, shows its pages, takes a message, and stops."""
    up = until(lambda: _started(installed), "a hub")  # which a busy machine may start later than `up` waits
    assert up is not None
    try:
        url = json.loads(up.stdout)["url"]
        page = httpx2.get(f"{url}/login", trust_env=False, timeout=patience())
        document = httpx2.get(f"{url}/docs/quickstart", trust_env=False, timeout=patience())
        sent = installed.run("hubbub", "send", "hub", "All is here.")
        letters = json.loads(installed.run("hubbub", "inbox", "hub", "--json").stdout)
        watched = installed.run("hubbub", "watch")
        told = installed.data.joinpath("hub.log").read_text("utf-8")
    finally:
        down = installed.run("hubbub", "down")

    assert (page.status_code, "<html" in page.text) == (200, True)
    assert (document.status_code, '<h1 id="quickstart">' in document.text) == (200, True)
    assert (sent.returncode, down.returncode) == (0, 0)
    assert [each["text"] for each in letters] == ["All is here."]
    assert watched.stderr == f"Error: {NotInstalled('tui')}\n"
    assert str(NotInstalled("machine")) in told.replace('\\"', '"')


WITHOUT_EXTRAS = {
    "serve --port 0 --database postgresql://nowhere/x": "postgres",
    "node run --join join_x": "machine",
    "gate check": "machine",
    "mcp cmdop": "machine",
}


@pytest.mark.system
@pytest.mark.parametrize(("words", "extra"), WITHOUT_EXTRAS.items())
def test_a_command_says_how_to_get_what_it_needs(installed: Installed, words: str, extra: str) -> None:
    """A command whose extra is not installed says so in one sentence, with the words that get it."""
    ran = installed.run("hubbub", *words.split())

    assert (ran.returncode, ran.stderr) == (1, f"Error: {NotInstalled(extra)}\n")
    assert f"pip install 'hubbub[{extra}]'" in ran.stderr


@pytest.mark.system
def test_it_is_the_installed_one_that_works(installed: Installed) -> None:
    """These tests have run the wheel, and not the checkout beside it."""
    where = installed.run("python", "-c", "import hubbub; print(hubbub.__file__)").stdout

    assert Path(where.strip()).is_relative_to(installed.environment)


@pytest.mark.system
def test_the_programs_are_there(installed: Installed) -> None:
    """`hubbub` says its version, and `hubbub-hook` answers a client without a hub as it should: not at all."""
    assert installed.run("hubbub", "--version").stdout.startswith(f"hubbub {__version__} (")

    hook = installed.run("hubbub-hook", "claude-code", "PreToolUse", given="{}")
    assert (hook.returncode, hook.stdout) == (0, "")


@pytest.mark.system
def test_clients_can_call_the_hook_of_it(installed: Installed) -> None:
    """The command that installers write into a client's configuration runs the hook of the wheel."""
    code = (
        "import json; from hubbub.clients.install.hook_command import program; print(json.dumps(program()))"
    )
    program = json.loads(installed.run("python", "-c", code).stdout)
    done = subprocess.run([*program, "nobody"], capture_output=True, text=True, check=True)

    assert any(Path(word).is_relative_to(installed.environment) for word in program)
    assert done.stderr.startswith("usage: hubbub-hook [CLIENT [EVENT]]")
