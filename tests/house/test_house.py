"""The rules for every file of the house that no linter knows."""

import ast
import os
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import cast

import pytest

from hubbub.model.programs.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
MODULES = sorted(SOURCE.rglob("*.py"))

MODULE_LINES = 600
FUNCTION_LINES = 40
NOT_OURS = {".git", ".hypothesis", ".venv", "node_modules", "build", "dist"}
MACHINE_PATH = re.compile(rb"(?<![\w.])/(?:work|root|tmp|home/\w+|Users/\w+)/\w")

SPEAKS_OF_SESSIONS = {"dialects", "mcp", "bridge"}

# What the rooms below the edges may know beside the standard library.
DRIVERS_AND_HASH = {"apsw", "psycopg", "argon2-cffi"}

SERVER_BUNDLE = {"httptools", "uvloop", "watchfiles"}  # of uvicorn[standard]
BROUGHT_ALONG = {"openai", "psycopg_pool"}  # by the extra of a library that an extra of ours names

pytestmark = pytest.mark.system  # as `make lint`, of which they are the rest

Nodes = dict[str, list[ast.AST]]


@pytest.fixture(scope="module")
def nodes() -> Nodes:
    """Every module of the product as Python reads it, by its path: the module itself, then all that is in it."""
    return {
        str(path.relative_to(SOURCE)): [*ast.walk(ast.parse(path.read_text("utf-8")))] for path in MODULES
    }


def _own_names(nodes: list[ast.AST]) -> Iterator[str]:
    """Every name that a module itself gives: functions, classes, arguments, variables, fields."""
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def _imports(nodes: list[ast.AST]) -> set[str]:
    """Every name that a module imports, whole: modules, and what may be one in a package."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Import(names=names):
                found.update(each.name for each in names)
            case ast.ImportFrom(module=str(package), names=names):
                found.update({package}, (f"{package}.{each.name}" for each in names))
    return found


def _files() -> Iterator[Path]:
    for folder, subfolders, names in os.walk(ROOT):
        subfolders[:] = [name for name in subfolders if name not in NOT_OURS and "cache" not in name]
        yield from (Path(folder, name) for name in names if name not in NOT_OURS)  # `.git` may be a file


def _pyproject() -> dict[str, dict[str, object]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_a_module_introduces_itself(nodes: Nodes) -> None:
    """Every module begins with a docstring that says what it is."""
    trees = {module: inside[0] for module, inside in nodes.items()}

    assert trees
    assert not [name for name, tree in trees.items() if not ast.get_docstring(cast("ast.Module", tree))]


def test_a_module_fits_in_the_head() -> None:
    """No module has more than 600 lines."""
    lines = {str(path.relative_to(SOURCE)): path.read_text("utf-8").count("\n") for path in MODULES}

    assert not {module: count for module, count in lines.items() if count > MODULE_LINES}


def test_a_function_fits_on_the_screen(nodes: Nodes) -> None:
    """No function has more than 40 lines below its signature."""
    assert not {
        f"{module}: {node.name}": lines
        for module, inside in nodes.items()
        for node in inside
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or 0) - node.body[0].lineno + 1) > FUNCTION_LINES
    }


def test_a_class_is_known_by_its_name_in_its_layer(nodes: Nodes) -> None:
    """No two public classes of one layer have the same name."""
    homes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module, inside in nodes.items():
        layer = "/".join(Path(module).parts[:2])
        for node in cast("ast.Module", inside[0]).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[layer, node.name].append(module)
    assert not {name: modules for name, modules in homes.items() if len(modules) > 1}


def test_folders_go_round_in_no_circle(nodes: Nodes) -> None:
    """Among the folders of one folder none needs another that needs it, be it by way of others."""
    homes = {
        module.removesuffix(".py").removesuffix("/__init__").replace("/", "."): module for module in nodes
    }
    needs: dict[str, set[str]] = defaultdict(set)
    for module, inside in nodes.items():
        for imported in _imports(inside) & homes.keys():
            ours, theirs = (f"{Path(each).parent}/" for each in (module, homes[imported]))
            shared = os.path.commonpath((ours, theirs))
            mine, other = (each.removeprefix(shared).split("/")[1] for each in (ours, theirs))
            if mine and other:
                needs[f"{shared}/{mine}"].add(f"{shared}/{other}")
    TopologicalSorter(needs).prepare()  # raises CycleError, which names the folders


def test_the_core_hands_on_what_it_has_nothing_to_decide_about(nodes: Nodes) -> None:
    """No function of the core only passes its arguments on to the store: the store's own is handed on by a name."""
    forwards = [
        f"{path}: {each.name}"
        for path, found in nodes.items()
        if path.startswith("hubbub/core/")
        for each in found
        if isinstance(each, ast.FunctionDef) and _is_forward(each, _of_store(found))
    ]
    assert not forwards


def _of_store(found: list[ast.AST]) -> set[str]:
    """The names under which a module has modules of the store."""
    imports = [each for each in found if isinstance(each, ast.ImportFrom) and each.module == "hubbub.store"]
    return {name.asname or name.name for each in imports for name in each.names}


def _is_forward(function: ast.FunctionDef, modules: set[str]) -> bool:
    """Tell whether all that a function does is a call of one of the modules with its own arguments."""
    match [
        each for each in function.body if ast.get_docstring(function) is None or each is not function.body[0]
    ]:
        case [
            ast.Return(value=ast.Call(func=ast.Attribute(value=ast.Name(id=module))) as call)
            | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=module))) as call)
        ] if module in modules:
            given = [*call.args, *(keyword.value for keyword in call.keywords)]
            own = [each.arg for each in (*function.args.args, *function.args.kwonlyargs)]
            return [each.id if isinstance(each, ast.Name) else None for each in given] == own
    return False


def test_python_is_started_in_one_way(nodes: Nodes) -> None:
    """One module says how hubbub starts Python; elsewhere, something would come to import from any folder."""
    assert {
        module
        for module, inside in nodes.items()
        for node in inside
        if isinstance(node, ast.Attribute) and node.attr == "executable"
    } == {"hubbub/model/programs/launching.py"}


def test_a_session_is_always_somebody_elses(nodes: Nodes) -> None:
    """The bare word means four things in four dialects; it is used only where a dialect or MCP itself is spoken."""
    assert not [
        f"{module}: {name}"
        for module, inside in nodes.items()
        if not SPEAKS_OF_SESSIONS & {*Path(module).parts}
        for name in _own_names(inside)
        if re.search("session", name, re.IGNORECASE)
    ]


def test_the_lock_pins_every_package_by_hash_and_names_no_registry() -> None:
    """The installed packages are the locked ones, wherever they are fetched from."""
    entries = re.split(
        r"^(?=[A-Za-z0-9])", (ROOT / "requirements.lock").read_text("utf-8"), flags=re.MULTILINE
    )

    assert len(entries) > len(_dependencies())
    for entry in filter(None, entries):
        assert re.match(r"[A-Za-z0-9._-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry
        assert not re.search(r"https?:|file:|--index|--find-links|@", entry), entry


def test_no_file_knows_the_machine_it_was_written_on() -> None:
    """Paths are relative, or made when the program runs."""
    found = {
        str(path.relative_to(ROOT)): match.group()
        for path in _files()
        if (match := MACHINE_PATH.search(path.read_bytes().replace(rb"\/", b"/")))  # as JSON may write it
    }
    assert not found


def test_what_is_installed_for_the_edges_is_forbidden_below_them() -> None:
    """A new dependency is out of reach of model, store and core until somebody lets it in on purpose."""
    contracts = _pyproject()["tool"]["importlinter"]["contracts"]  # type: ignore[index]
    forbidden = next(c for c in contracts if c["name"].startswith("Below the edges"))["forbidden_modules"]
    modules = {
        module.split(".")[0]
        for module, distributions in packages_distributions().items()
        if {d.lower() for d in distributions} & (_dependencies() - DRIVERS_AND_HASH)
    }

    assert modules
    assert modules <= set(forbidden)


def test_what_everybody_installs_is_little_and_has_a_reason() -> None:
    """At most 16 libraries come with hubbub; record 0006 says of each, and of those of the extras, why we take it."""
    record = (ROOT / "docs/decisions/0006-libraries.md").read_text("utf-8").lower()
    reasons = [row.split("|")[-4] for row in record.splitlines() if row.count("|") in (5, 6)]

    assert len(_named(_project()["dependencies"])) <= 16
    assert not [name for name in _dependencies() if not any(name in reason for reason in reasons)]


def test_each_extra_is_known_where_it_is_missed() -> None:
    """The extras of the package are those of which hubbub can say how to get them; `all` has all of them."""
    declared = _extras()

    assert declared.pop("all") == [f"hubbub[{','.join(sorted(declared))}]"]
    assert declared.keys() == EXTRAS.keys()
    assert not [
        module
        for name, extra in EXTRAS.items()
        for module in extra.modules
        if not _named(declared[name]) & {each.lower() for each in packages_distributions()[module]}
        and module not in BROUGHT_ALONG
    ]


def _project() -> dict[str, list[str]]:
    return cast("dict[str, list[str]]", _pyproject()["project"])


def _extras() -> dict[str, list[str]]:
    return {**cast("dict[str, list[str]]", _pyproject()["project"]["optional-dependencies"])}


def _named(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=; ]", requirement)[0] for requirement in requirements}


def _dependencies() -> set[str]:
    """Every library that we name, of the extras too, and those in the bundle of the server."""
    extras = (needed for name, needed in _extras().items() if name != "all")
    return {*_named(_project()["dependencies"]), *SERVER_BUNDLE}.union(*map(_named, extras))
