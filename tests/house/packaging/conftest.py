"""The package as it is released, built once, and installed beside what it needs."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path

import pytest

from hubbub import __version__
from hubbub.model.programs.extras import EXTRAS
from tests.house.packaging.package import Installed, build

BROUGHT_BY_OTHERS = {"cryptography", "opentelemetry"}  # by the MCP SDK


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked."""
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(build("sdist", folder / "packed")) as archive:
        # Python 3.11.3 and older have no such filter, unless it was ported back to them.
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        archive.extractall(folder)
    return folder / f"hubbub-{__version__}"


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = tmp_path_factory.mktemp("installed")
    environment, data = place / "environment", place / "data"
    venv.create(environment)
    data.mkdir(mode=0o700)
    packages = environment / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    packages.joinpath("needs.pth").write_text(sysconfig.get_path("purelib") + os.linesep)
    missing = {module for extra in EXTRAS.values() for module in extra.modules} - BROUGHT_BY_OTHERS
    packages.joinpath("no_extras.pth").write_text(
        f"import sys; sys.modules.update(dict.fromkeys({missing}))\n"
    )
    pip = [sys.executable, "-m", "pip", "--python", str(environment), "install", "--quiet"]
    subprocess.run([*pip, "--no-index", "--no-deps", str(wheel)], check=True)
    return Installed(environment, data)
