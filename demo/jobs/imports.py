"""Rank the modules by the number of others that import them."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from demo.jobs.desk import ROOT, Desk, numbered, sources

SHOWN = 10
OURS = "hubbub"


def report(desk: Desk, folder: str) -> str:
    """Our own modules that are named the most often in the imports of a folder."""
    found = Counter(module for _name, path in sources(folder) for module in set(_imported(path)))
    lines = [f"{count:5} {module}" for module, count in found.most_common(SHOWN)]
    first = f"most of all on {found.most_common(1)[0][0]}" if found else "all by itself"
    text = "\n".join([f"relies on {numbered(len(found), 'module')}, {first}", *lines])
    desk.put("imports", text)
    return text


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (each.name for each in names if each.name.split(".")[0] == OURS)
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] == OURS:
                yield from (_module(module, each.name) for each in names)


def _module(package: str, name: str) -> str:
    """Return the module that `from package import name` relies on: one in the package, or else the package itself."""
    path = ROOT.joinpath("src", *package.split("."), name)
    return f"{package}.{name}" if path.is_dir() or path.with_suffix(".py").exists() else package
