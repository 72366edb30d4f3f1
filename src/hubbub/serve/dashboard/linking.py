"""Many scripts as few: what every view needs, and the first one, becomes one file when the hub starts.

The scripts are plain modules, served as they lie in `static` and readable there; but a browser that must ask for
each of them, and unpack each by itself, shows the first view late. So the modules that the first scripts lead to
become blocks of one file, each after those that it imports; what it exports is a member of its own record. Whoever
imports one of them, by its own address too, gets what that record holds: no module is ever there twice.

This is no reader of JavaScript. It knows the forms in which our modules import and export, at the beginning of a line,
and refuses what is in a circle.
"""

import re
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath

NAME = "core.js"
FOREIGN = "vendor/"  # where modules of others are, which stay as they are

_IMPORT = re.compile(r'^import\s+(?:\{([^}]*)\}\s+from\s+)?"(\.{1,2}/[^"]+)";?', re.MULTILINE)
_EXPORT = re.compile(
    r"^export\s+((?:async\s+)?function\s*\*?\s*|const\s+|class\s+)(?:(\w+)|\{([^}]*)\})", re.MULTILINE
)
_OTHER = re.compile(r"^(?:import|export)\b(?!\().*", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?:/\*.*?\*/|//[^\n]*)[ \t]*\n", re.MULTILINE | re.DOTALL)
_LATER = re.compile(r"""\bimport\((["'`])((?:\.{1,2}/)+)""")
_HERE = "import.meta.url"


class Unlinkable(Exception):
    """A module is written in a form that is not known here, or imports itself by way of others."""


def link(modules: Mapping[str, str], starts: Sequence[str]) -> dict[str, str]:
    """All modules but those of others, without their comments, and one more with what `starts` lead to.

    Raises `Unlinkable`.
    """
    ours = {name: _COMMENT.sub("", text) for name, text in modules.items() if not name.startswith(FOREIGN)}
    order = _ordered({**modules, **ours}, starts)
    records = {name: f"${number}" for number, name in enumerate(order)}
    parts = [
        _block(name, ours[name], records) if name in ours else f'import * as {record} from "./{name}";\n'
        for name, record in records.items()
    ]
    linked = {
        name: _facade(name, text, records[name]) if name in records else _pointed(name, text, records)
        for name, text in ours.items()
    }
    return {**linked, NAME: "".join(parts)}


def resolved(name: str, wanted: str) -> str:
    """The name that a relative address means in the module of that name."""
    parts = list(PurePosixPath(name).parent.parts)
    for part in wanted.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _ordered(modules: Mapping[str, str], starts: Sequence[str]) -> list[str]:
    """The modules that `starts` lead to, each after all that it imports; those of others import nothing of ours."""
    found = [*starts]
    wants: dict[str, list[str]] = {}
    for name in found:  # which grows as they are read
        wanted = (
            []
            if name.startswith(FOREIGN)
            else [resolved(name, way) for _, way in _IMPORT.findall(modules[name])]
        )
        if gone := set(wanted) - modules.keys():
            raise Unlinkable(f"{name} imports {', '.join(sorted(gone))}, which is not there")
        wants[name] = wanted
        found += [each for each in dict.fromkeys(wanted) if each not in found]
    try:
        return list(TopologicalSorter(wants).static_order())
    except CycleError as error:
        raise Unlinkable(f"these import each other in a circle: {', '.join(error.args[1])}") from None


def _block(name: str, text: str, records: Mapping[str, str]) -> str:
    """A module as a block that fills its record."""
    body = _IMPORT.sub(lambda found: _taken(found, records[resolved(name, found[2])]), text)
    body = _EXPORT.sub(lambda found: found[0].removeprefix("export").lstrip(), body)
    if other := _OTHER.search(body):
        raise Unlinkable(f"{name} has a line of a form that is not known: {other[0]}")
    body = _LATER.sub(lambda found: f"import({found[1]}./{_folder(resolved(name, found[2]))}", body)
    body = body.replace(_HERE, f'new URL("./{name}", {_HERE})')
    record, exported = records[name], ", ".join(_exported(text))
    return f"export const {record} = {{}};\n{{\n{body}\nObject.assign({record}, {{ {exported} }});\n}}\n"


def _pointed(name: str, text: str, records: Mapping[str, str]) -> str:
    """A module that comes later, which takes what is in the one file from there."""
    used: dict[str, None] = {}

    def taken(found: re.Match[str]) -> str:
        wanted = resolved(name, found[2])
        if wanted not in records or wanted.startswith(FOREIGN):
            return found[0]
        used[records[wanted]] = None
        return _taken(found, records[wanted])

    body = _IMPORT.sub(taken, text)
    return f'import {{ {", ".join(used)} }} from "{_to_core(name)}";\n{body}' if used else body


def _facade(name: str, text: str, record: str) -> str:
    """What is at the address of a module that is in the one file."""
    exported = ", ".join(_exported(text))
    return f'import {{ {record} }} from "{_to_core(name)}";\nexport const {{ {exported} }} = {record};\n'


def _taken(found: re.Match[str], record: str) -> str:
    """An import as a statement that takes the same names from a record."""
    names = [each.strip() for each in (found[1] or "").split(",") if each.strip()]
    return (
        f"const {{ {', '.join(each.replace(' as ', ': ') for each in names)} }} = {record};" if names else ""
    )


def _exported(text: str) -> list[str]:
    """The names that a module exports."""
    groups = ([one] if one else several.split(",") for _kind, one, several in _EXPORT.findall(text))
    return [each.strip().rpartition(":")[2].strip() for group in groups for each in group if each.strip()]


def _to_core(name: str) -> str:
    depth = len(PurePosixPath(name).parts) - 1
    return f"{'../' * depth or './'}{NAME}"


def _folder(path: str) -> str:
    return f"{path.rstrip('/')}/" if path.strip("/") else ""
