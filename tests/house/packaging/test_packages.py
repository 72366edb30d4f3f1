"""The packages beside hubbub: each can be built, installed and used without it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.house.packaging.package import ROOT, build

# Where a package was unpacked, and there is no hubbub: all of it is imported, and the example of its README run.
ALONE = """
import doctest, importlib, pkgutil, sys
from pathlib import Path

folder, name = sys.argv[1:]
sys.modules["hubbub"] = None
sys.path.insert(0, folder)
package = importlib.import_module(name)
assert Path(package.__file__).is_relative_to(folder)
for each in pkgutil.walk_packages(package.__path__, f"{name}."):
    importlib.import_module(each.name)
ran = doctest.testfile(str(Path(folder, name, "README.md")), module_relative=False)
assert ran.attempted and not ran.failed
"""


@pytest.mark.system
@pytest.mark.parametrize("name", ["shellgate", "spliceconf"])
def test_a_package_stands_alone(name: str, tmp_path: Path) -> None:
    """Its own wheel holds all of it, and works where there is no hubbub."""
    wheel = build("wheel", tmp_path / "wheel", source=ROOT / "src" / name)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "unpacked")
    held = {file.name for file in (tmp_path / "unpacked" / name).iterdir()}

    assert held >= {"README.md", "py.typed", "__init__.py"}
    assert "pyproject.toml" not in held
    subprocess.run([sys.executable, "-c", ALONE, str(tmp_path / "unpacked"), name], check=True)
