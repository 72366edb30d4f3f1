"""Many scripts as few: what every view needs, and the first ones, become one file when the hub starts.

The scripts are plain modules, served as they lie in `static` and readable there; but a browser that must ask for
each of them, and unpack each by itself, shows the first view late. So the modules that the first scripts lead to
become blocks of one file, each after those that it imports; what it exports is a member of its own record. What only
one of the later scripts leads to comes with that one, in the same way; what several of them share stays by itself.
Whoever imports any of these, by its own address too, gets what its record holds: no module is ever there twice.

This is no reader of JavaScript. It knows the forms in which our modules import and export, at the beginning of a line,
and refuses what is in a circle.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
_ASIDE = re.compile(r"""(?<=[;,{(])[ \t]+//[^\n"'`]*$""", re.MULTILINE)  # a comment after what a line does
_INDENT = re.compile(r"^\s+", re.MULTILINE)
_LATER = re.compile(r"""\bimport\((["'`])((?:\.{1,2}/)+)""")
_HERE = "import.meta.url"


class Unlinkable(Exception):
    """A module is written in a form that is not known here, or imports itself by way of others."""


def link(modules: Mapping[str, str], starts: Sequence[str], later: Sequence[str] = ()) -> dict[str, str]:
    """All modules but those of others, without what only readers need, and one more with what `starts` lead to.

    Each of `later` holds what only it leads to. Raises `Unlinkable`.
    """
    ours = {name: _bare(text) for name, text in modules.items() if not name.startswith(FOREIGN)}
    wants = {name: _imported(name, ours[name]) if name in ours else [] for name in modules}
    homes = _homes(wants, starts, later)
    records = {name: f"${number}" for number, name in enumerate(modules)}
    linker = _Linker(ours, wants, homes, records)
    made = {
        **{name: linker.alone(name) for name in ours if name not in homes},
        **{name: linker.facade(name) for name, home in homes.items() if home != name},
        **{home: linker.together(home) for home in dict.fromkeys(homes.values())},
    }
    return {name: _INDENT.sub("", text) for name, text in made.items()}


def resolved(name: str, wanted: str) -> str:
    """The name that a relative address means in the module of that name."""
    parts = list(PurePosixPath(name).parent.parts)
    for part in wanted.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _bare(text: str) -> str:
    """A module without its comments."""
    return _ASIDE.sub("", _COMMENT.sub("", text))


def _homes(wants: Mapping[str, Sequence[str]], starts: Sequence[str], later: Sequence[str]) -> dict[str, str]:
    """In which file each of our modules is that does not stay by itself; in a file, each after what it imports."""
    homes = {name: NAME for name in _ordered(wants, starts) if not name.startswith(FOREIGN)}
    led = {start: [name for name in _ordered(wants, [start]) if name not in homes] for start in later}
    times = Counter(name for names in led.values() for name in names)
    for start, names in led.items():
        if times[start] == 1 and start not in homes:
            alone = [name for name in names if times[name] == 1 and not name.startswith(FOREIGN)]
            homes |= dict.fromkeys(alone, start)
    return homes


def _ordered(wants: Mapping[str, Sequence[str]], starts: Sequence[str]) -> list[str]:
    """The modules that `starts` lead to, each after all that it imports."""
    found = dict.fromkeys(starts)
    ahead = [*starts]
    for name in ahead:  # which grows as they are followed
        if gone := set(wants[name]) - wants.keys():
            raise Unlinkable(f"{name} imports {', '.join(sorted(gone))}, which is not there")
        new = [each for each in dict.fromkeys(wants[name]) if each not in found]
        found |= dict.fromkeys(new)
        ahead += new
    try:
        return list(TopologicalSorter({name: wants[name] for name in found}).static_order())
    except CycleError as error:
        raise Unlinkable(f"these import each other in a circle: {', '.join(error.args[1])}") from None


@dataclass(frozen=True, slots=True)
class _Linker:
    """Writes the files: of our modules, what each imports, the file in which it is, and the name of its record."""

    ours: Mapping[str, str]
    wants: Mapping[str, Sequence[str]]
    homes: Mapping[str, str]
    records: Mapping[str, str]

    def together(self, home: str) -> str:
        """A file with all its modules, and with its own name's exports, if it is one of them itself."""
        inside = [name for name, where in self.homes.items() if where == home]
        wanted = dict.fromkeys(way for name in inside for way in self.wants[name] if way not in inside)
        own = self._reexported(home) if home in inside else ""
        return self._taken_from(home, wanted) + "".join(self._block(name, home) for name in inside) + own

    def alone(self, name: str) -> str:
        """A module that stays by itself, which takes what is in one of the files from there."""
        wanted = [way for way in dict.fromkeys(self.wants[name]) if way in self.homes]

        def taken(found: re.Match[str]) -> str:
            way = resolved(name, found[2])
            return _taken(found, self.records[way]) if way in self.homes else found[0]

        return self._taken_from(name, wanted) + _IMPORT.sub(taken, self.ours[name])

    def facade(self, name: str) -> str:
        """What is at the address of a module that is in one of the files."""
        return self._taken_from(name, [name]) + self._reexported(name)

    def _block(self, name: str, home: str) -> str:
        """A module as a block that fills its record."""
        text = self.ours[name]
        body = _IMPORT.sub(lambda found: _taken(found, self.records[resolved(name, found[2])]), text)
        body = _EXPORT.sub(lambda found: found[0].removeprefix("export").lstrip(), body)
        if other := _OTHER.search(body):
            raise Unlinkable(f"{name} has a line of a form that is not known: {other[0]}")
        body = _LATER.sub(lambda found: f"import({found[1]}{_way(home, resolved(name, found[2]))}/", body)
        body = body.replace(_HERE, f'new URL("{_way(home, name)}", {_HERE})')
        record, exported = self.records[name], ", ".join(_exported(text))
        return f"export const {record} = {{}};\n{{\n{body}\nObject.assign({record}, {{ {exported} }});\n}}\n"

    def _taken_from(self, name: str, wanted: Iterable[str]) -> str:
        """The records of modules, for the file of that name: of the files that they are in, or made of them."""
        held: dict[str, list[str]] = {}
        lines = []
        for each in wanted:
            if each in self.homes:
                held.setdefault(self.homes[each], []).append(self.records[each])
            else:
                lines.append(f'import * as {self.records[each]} from "{_way(name, each)}";\n')
        for home, records in held.items():
            lines.append(f'import {{ {", ".join(records)} }} from "{_way(name, home)}";\n')
        return "".join(lines)

    def _reexported(self, name: str) -> str:
        return f"export const {{ {', '.join(_exported(self.ours[name]))} }} = {self.records[name]};\n"


def _imported(name: str, text: str) -> list[str]:
    """The modules that a module imports."""
    return [resolved(name, way) for _, way in _IMPORT.findall(text)]


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


def _way(name: str, wanted: str) -> str:
    """The relative address of a file or folder, in the file of that name."""
    up = "../" * (len(PurePosixPath(name).parts) - 1)
    return f"{up or './'}{wanted}".rstrip("/")
