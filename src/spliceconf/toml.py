"""The editor of TOML: our table goes to the end of the file, where no other table can absorb it."""

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any

from spliceconf.editor import (
    BOM,
    MISSING,
    Keys,
    Trace,
    Unreadable,
    find,
    joined,
    newline,
    require_same,
)

BARE = re.compile(r"[A-Za-z0-9_-]+")
TOKEN = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5} | \'{3}.*?\'{3,5} | "(?:[^"\\\n]|\\.)*" | \'[^\'\n]*\' | \#[^\n]* | \n | . ''',
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class TableHeader:
    """The header line of a table: its place and its keys, which are empty for an array of tables."""

    start: int
    end: int
    keys: Keys


class TomlEditor:
    """Edits TOML: values are tables of texts, numbers, switches, lists and tables."""

    def load(self, text: str) -> Any:
        try:
            return tomllib.loads(text.removeprefix(BOM).replace("\r\n", "\n"))
        except tomllib.TOMLDecodeError as error:
            raise Unreadable(f"is not TOML: {error}") from None

    def snippet(self, keys: Keys, value: Any) -> str:
        lines = [f"[{_path(keys)}]"] if not isinstance(value, list) else [f"[[{_path(keys)}]]"]
        (table,) = value if isinstance(value, list) else (value,)
        return "\n".join([*lines, *(f"{_key(key)} = {_written(each)}" for key, each in table.items())])

    def put(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        before = self.load(text)
        if find(before, keys) is MISSING:
            new, trace = self._at_end(text, self.snippet(keys, value))
        else:
            start, end = self._block(text, keys)
            written = self.snippet(keys, value).replace("\n", newline(text)) + newline(text)
            new, trace = text[:start] + written + text[end:], Trace(old=text[start:end])
        after = self._load_new(new)
        require_same(before, after, keys)
        if find(after, keys) != value:
            raise Unreadable("cannot be changed without touching entries of others")
        return new, trace

    def take(self, text: str, keys: Keys, trace: Trace) -> str:
        before = self.load(text)
        start, end = self._block(text, keys)
        if trace.old is not None:
            new = joined(text[:start] + trace.old, "", text[end:])
        else:
            new = joined(text[:start], trace.lead, text[end:])
        require_same(before, self._load_new(new), keys)
        return new

    def append(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        before = find(self.load(text), keys)
        new, trace = self._at_end(text, self.snippet(keys, [value]))
        after = self._load_new(new)
        require_same(self.load(text), after, keys)
        if find(after, keys) != [*(before if before is not MISSING else []), value]:
            raise Unreadable("cannot be changed without touching entries of others")
        return new, trace

    def drop(self, text: str, keys: Keys, index: int, trace: Trace) -> str:
        before = self.load(text)
        rest = [each for at, each in enumerate(find(before, keys)) if at != index]
        block = self.snippet(keys, [find(before, keys)[index]]).replace("\n", newline(text)) + newline(text)
        start = text.find(block)
        if start < 0:
            raise Unreadable(f"has our entry at {_path(keys)}, but in a changed form")
        new = joined(text[:start], trace.lead, text[start + len(block) :])
        after = self._load_new(new)
        require_same(before, after, keys)
        if (find(after, keys) if find(after, keys) is not MISSING else []) != rest:
            raise Unreadable("cannot be changed without touching entries of others")
        return new

    def _at_end(self, text: str, block: str) -> tuple[str, Trace]:
        end = newline(text)
        has_content = bool(text.removeprefix(BOM))
        lead = "" if not has_content else end if text.endswith("\n") else end * 2
        return text + lead + block.replace("\n", end) + end, Trace(lead=lead)

    def _block(self, text: str, keys: Keys) -> tuple[int, int]:
        """Return start and end of the table at `keys`, subtables included. Raises `Unreadable` if it has no header."""
        headers = _headers(text)
        ours = [at for at, each in enumerate(headers) if each.keys[: len(keys)] == keys]
        if not ours or headers[ours[0]].keys != keys:
            raise Unreadable(f"has {_path(keys)} in a form other than a table of its own")
        if ours[-1] - ours[0] >= len(ours):
            raise Unreadable(f"has {_path(keys)} in several places")
        following = headers[ours[-1] + 1 :]
        after = following[0].start if following else len(text)
        return headers[ours[0]].start, _last_line_end(text, headers[ours[-1]].end, after)

    def _load_new(self, text: str) -> Any:
        try:
            return self.load(text)
        except Unreadable:
            raise Unreadable("cannot be changed without touching entries of others") from None


def _last_line_end(text: str, start: int, end: int) -> int:
    """Return the end of the last line between `start` and `end` that is neither blank nor a comment."""
    at = end
    for line in reversed(text[start:end].splitlines(keepends=True)):
        if line.strip() and not line.strip().startswith("#"):
            break
        at -= len(line)
    return max(at, start)


def _headers(text: str) -> list[TableHeader]:
    """Return all headers in order, without lookalikes in strings and lists."""
    found, depth, at = [], 0, len(BOM) if text.startswith(BOM) else 0
    line = at
    while at < len(text):
        token = TOKEN.match(text, at)
        assert token is not None
        if token[0] == "[" and depth == 0 and not text[line:at].strip():
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            found.append(TableHeader(line, end, _parts(text[line:end])))
            at = end
            continue
        depth += (token[0] in {"[", "{"}) - (token[0] in {"]", "}"})
        at = token.end()
        line = at if token[0] == "\n" else line
    return found


def _parts(header: str) -> Keys:
    """Return the keys of a header; none for an array of tables."""
    data: Any = tomllib.loads(header.rstrip("\r"))
    parts: list[str] = []
    while isinstance(data, dict) and data:
        ((key, data),) = data.items()
        parts.append(key)
    return tuple(parts) if isinstance(data, dict) else ()


def _path(keys: Keys) -> str:
    return ".".join(_key(key) for key in keys)


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _written(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_written(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_written(each) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False)
