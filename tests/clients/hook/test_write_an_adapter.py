"""How to write an adapter: the module on the page is real, and answers a client as the page says."""

import json
import re
import time
from pathlib import Path
from types import ModuleType

import pytest

from hubbub.clients.hook.main import Clock, answer
from tests.clients.hook.hook_workbench import Workbench

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "write-an-adapter.md"


@pytest.fixture
def pebble() -> ModuleType:
    """The module on the page."""
    (source,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    module = ModuleType("pebble")
    exec(compile(source, str(PAGE), "exec"), module.__dict__)
    return module


def _told(place: Path, **more: object) -> bytes:
    return json.dumps({"run": "run-1", "folder": str(place)} | more).encode()


def test_the_client_on_the_page_takes_part(
    bench: Workbench, shop: Path, pebble: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With nothing but the module on the page, a new client claims what it edits, and hears who has it."""
    bench.mode("block")
    for name, value in bench.environment("pebbler").items():
        monkeypatch.setenv(name, value)
    free, taken = shop / "b.txt", shop / "a.txt"
    bench.editor("ember", shop).edit(taken, "two\n")

    def ask(file: Path) -> str:
        told = _told(shop, tool="write_stone", file=str(file))
        return str(answer(pebble, "may_i", told, Clock(time.monotonic())).stdout)

    assert ask(free) == ""
    assert bench.held("pebbler") == ["b.txt"]
    assert "ember" in json.loads(ask(taken))["no"]


@pytest.mark.parametrize("told", [{"tool": 7}, {"run": None}, {"folder": ["/"]}, {"file": {}}])
def test_the_client_on_the_page_is_not_believed(
    pebble: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: dict[str, object]
) -> None:
    """A message of another version of the client is no trouble: the hook says nothing."""
    monkeypatch.setenv("HUBBUB_CONFIG", str(tmp_path))
    tmp_path.joinpath("clients.json").write_text('{"version": 1, "installs": []}')

    said = answer(pebble, "may_i", _told(tmp_path, **told), Clock(time.monotonic()))

    assert said.stdout == ""
