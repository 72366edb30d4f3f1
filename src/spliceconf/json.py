"""The editor of JSON, also of the kind with comments and trailing commas."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from spliceconf.editor import (
    BOM,
    MISSING,
    Keys,
    Trace,
    Unreadable,
    find,
    newline,
    require_same,
    unit,
)

DEEPEST = 100  # levels; no configuration has as many
TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\n]+) | (?P<comment>//[^\n\r]*|/\*.*?\*/) | (?P<mark>[{}\[\]:,])
    | (?P<string>"(?:[^"\\\x00-\x1f]|\\.)*") | (?P<word>[-+.\w]+)""",
    re.VERBOSE | re.DOTALL,
)
AT_LINE_END = re.compile(r"[ \t]*[\r\n]")
LINE_REST = re.compile(r"[ \t]*(?://[^\n\r]*|/\*(?:(?!\*/)[^\n\r])*\*/)?(?=[ \t]*(?:[\r\n]|\Z))")


@dataclass(slots=True)
class JsonNode:
    """A value and its place in the text; for an object or a list also its elements."""

    start: int
    end: int = 0
    value: Any = None
    elements: list["JsonElement"] = field(default_factory=list)


@dataclass(slots=True)
class JsonElement:
    """A member of an object, with its key, or an element of a list, and the place of the comma after it."""

    start: int
    node: JsonNode
    key: str | None = None
    comma: int | None = None


@dataclass(frozen=True, slots=True)
class JsonToken:
    """A token of the text: neither blank nor comment."""

    kind: str
    text: str
    start: int
    end: int


class JsonReader:
    """Parses a text into nodes, in one pass."""

    def __init__(self, text: str, *, strict: bool) -> None:
        self._tokens = _tokens(text, strict=strict)
        self._strict = strict
        self._next = next(self._tokens)

    def document(self) -> JsonNode:
        """Return the one value of the text."""
        node = self._value(0)
        if self._next.kind != "end":
            raise _unexpected(self._next)
        return node

    def _take(self) -> JsonToken:
        token = self._next
        if token.kind == "end":
            raise Unreadable("ends in the middle")
        self._next = next(self._tokens)
        return token

    def _value(self, depth: int) -> JsonNode:
        if depth > DEEPEST:
            raise Unreadable(f"is nested more than {DEEPEST} levels deep")
        token = self._take()
        if token.text in {"{", "["}:
            return self._container(token, depth)
        if token.kind == "mark":
            raise _unexpected(token)
        return JsonNode(token.start, token.end, _scalar(token))

    def _container(self, opening: JsonToken, depth: int) -> JsonNode:
        node, closing = JsonNode(opening.start), "}" if opening.text == "{" else "]"
        while self._next.text != closing:
            if node.elements and node.elements[-1].comma is None:
                raise _unexpected(self._next)
            element = self._element(depth, keyed=closing == "}")
            node.elements.append(element)
            if self._next.text == ",":
                element.comma = self._take().start
        if self._strict and node.elements and node.elements[-1].comma is not None:
            raise Unreadable("has a comma after the last element, which this client does not read")
        node.end = self._take().end
        values = [each.node.value for each in node.elements]
        keys = [each.key for each in node.elements]
        node.value = dict(zip(keys, values, strict=True)) if closing == "}" else values
        return node

    def _element(self, depth: int, *, keyed: bool) -> JsonElement:
        start, key = self._next.start, None
        if keyed:
            token = self._take()
            if token.kind != "string":
                raise _unexpected(token)
            key = _scalar(token)
            colon = self._take()
            if colon.text != ":":
                raise _unexpected(colon)
        return JsonElement(start, self._value(depth + 1), key)


def _tokens(text: str, *, strict: bool) -> Iterator[JsonToken]:
    at = len(BOM) if text.startswith(BOM) else 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None:
            raise Unreadable(f"has something in line {_line(text, at)} that JSON does not know")
        kind = found.lastgroup or ""
        if strict and kind == "comment":
            raise Unreadable(f"has a comment in line {_line(text, at)}, which this client does not read")
        if kind not in ("blank", "comment"):
            yield JsonToken(kind, found[0], at, found.end())
        at = found.end()
    while True:
        yield JsonToken("end", "", at, at)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _unexpected(token: JsonToken) -> Unreadable:
    what = f"{token.text[:20]!r} where it does not belong" if token.text else "no end"
    return Unreadable(f"is not JSON: it has {what}")


def _scalar(token: JsonToken) -> Any:
    try:
        return json.loads(token.text)
    except ValueError:
        raise _unexpected(token) from None


class JsonEditor:
    """Edits JSON; `strict` is for clients that read neither comments nor trailing commas."""

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict

    def load(self, text: str) -> Any:
        if not text.removeprefix(BOM).strip():
            return {}
        return JsonReader(text, strict=self._strict).document().value

    def snippet(self, keys: Keys, value: Any) -> str:
        for key in reversed(keys):
            value = {key: value}
        return json.dumps(value, indent=2, ensure_ascii=False)

    def put(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        present = find(self.load(text), keys)
        if present is not MISSING:
            node = self._walk(text, keys)[-1]
            old = text[node.start : node.end]
            new = _spliced(text, node.start, node.end, _written(value, text, _indent_at(text, node.start)))
            trace = Trace(old=old)
        else:
            new, trace = self._insert(text, keys, value)
        self._check(text, new, keys, value)
        return new, trace

    def append(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        present = find(self.load(text), keys)
        if present is MISSING:
            new, trace = self._insert(text, keys, [value])
            trace = replace(trace, made=trace.made + 1)  # the list too
        elif isinstance(present, list):
            new, trace = _add(text, self._walk(text, keys)[-1], None, value)
        else:
            raise Unreadable(f"does not have a list at {'.'.join(keys)}")
        self._check(text, new, keys, [*(present if isinstance(present, list) else []), value])
        return new, trace

    def take(self, text: str, keys: Keys, trace: Trace) -> str:
        nodes = self._walk(text, keys)
        if trace.old is not None:
            new = _spliced(text, nodes[-1].start, nodes[-1].end, trace.old)
        else:
            new = self._remove(text, nodes, keys, trace)
        require_same(self.load(text), self.load(new), keys)
        return new

    def drop(self, text: str, keys: Keys, index: int, trace: Trace) -> str:
        nodes = self._walk(text, keys)
        if trace.made and _holds_only_ours(text, nodes[-1]):
            new = self._remove(text, nodes, keys, replace(trace, made=trace.made - 1))
        else:
            new = _cut(text, nodes[-1], index, trace if not trace.made else Trace())
        before, after = self.load(text), self.load(new)
        require_same(before, after, keys)
        rest = [each for at, each in enumerate(find(before, keys)) if at != index]
        left = find(after, keys)
        if (left if left is not MISSING else []) != rest:
            raise Unreadable("cannot be changed without touching entries of others")
        return new

    def _insert(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        if not text.removeprefix(BOM).strip():
            whole = self.snippet(keys, value).replace("\n", newline(text)) + newline(text)
            return text + whole, Trace(tail=newline(text), made=len(keys))
        nodes = self._walk(text, keys)
        missing = keys[len(nodes) - 1 :]
        parent = nodes[-1]
        if not isinstance(parent.value, dict):
            place = ".".join(keys[: len(nodes) - 1]) or "its top"
            raise Unreadable(f"does not have an object at {place}")
        for key in reversed(missing[1:]):
            value = {key: value}
        new, trace = _add(text, parent, missing[0], value)
        return new, replace(trace, made=len(missing) - 1)

    def _remove(self, text: str, nodes: list[JsonNode], keys: Keys, trace: Trace) -> str:
        """Take out the outermost of the containers that are ours and hold nothing else, else only the entry."""
        if trace.made == len(keys) and all(_holds_only_ours(text, each) for each in nodes[:-1]):
            head = BOM if text.startswith(BOM) else ""
            before, after = text[len(head) : nodes[0].start], text[nodes[0].end :].removeprefix(trace.tail)
            if not (before + after).strip():  # a comment alone is no document
                return head + before + after
        level, around = len(nodes) - 1, trace
        for _ in range(trace.made):
            if level == 1 or not _holds_only_ours(text, nodes[level - 1]):
                around = Trace()
                break
            level -= 1
        return _cut(text, nodes[level - 1], _index(nodes[level - 1], keys[level - 1]), around)

    def _walk(self, text: str, keys: Keys) -> list[JsonNode]:
        """Return the nodes along `keys`, from the whole document on, as far as they exist."""
        nodes = [JsonReader(text, strict=self._strict).document()]
        for key in keys:
            index = _index(nodes[-1], key)
            if index is None:
                break
            nodes.append(nodes[-1].elements[index].node)
        return nodes

    def _check(self, text: str, new: str, keys: Keys, value: Any) -> None:
        after = self.load(new)
        require_same(self.load(text), after, keys)
        if find(after, keys) != value:
            raise Unreadable("cannot be changed without touching entries of others")


def _index(node: JsonNode, key: str) -> int | None:
    """Return the index of `key` among the members. Raises `Unreadable` if it is there twice, as readers then differ."""
    if not isinstance(node.value, dict):
        return None
    found = [index for index, each in enumerate(node.elements) if each.key == key]
    if len(found) > 1:
        raise Unreadable(f"has {key!r} twice")
    return found[0] if found else None


def _add(text: str, parent: JsonNode, key: str | None, value: Any) -> tuple[str, Trace]:
    """Put an element after the last of `parent`, in the same form as the others."""
    head = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    if not parent.elements:
        return _add_first(text, parent, head, value)
    last = parent.elements[-1]
    spread = "\n" in text[parent.start : parent.elements[0].start]
    end = last.node.end if last.comma is None else last.comma + 1
    rest = LINE_REST.match(text, end) if spread else None
    at = rest.end() if rest else end
    indent = _indent_at(text, last.start)
    lead = newline(text) + indent if spread else " "
    written = _written(value, text, indent) if spread else json.dumps(value, ensure_ascii=False)
    tail = "" if last.comma is None else ","
    new = text[:at] + lead + head + written + tail + text[at:]
    if last.comma is None:
        new = new[:end] + "," + new[end:]
    return new, Trace(lead, tail, last.comma is None)


def _add_first(text: str, parent: JsonNode, head: str, value: Any) -> tuple[str, Trace]:
    """Put an element into an empty container, after any comments in it."""
    inside = text[parent.start + 1 : parent.end - 1]
    outer = _indent_at(text, parent.start)
    spread = "\n" in text.strip() or "\n" in inside
    indent = outer + unit(text)
    at = parent.start + 1 + len(inside.rstrip()) if inside.strip() else parent.start + 1
    lead = newline(text) + indent if spread else ""
    tail = newline(text) + outer if spread and "\n" not in text[at : parent.end - 1] else ""
    written = _written(value, text, indent) if spread else json.dumps(value, ensure_ascii=False)
    return text[:at] + lead + head + written + tail + text[at:], Trace(lead, tail)


def _holds_only_ours(text: str, container: JsonNode) -> bool:
    """Tell whether the container has one element and no comment beside it."""
    if len(container.elements) != 1:
        return False
    (element,) = container.elements
    beside = text[container.start + 1 : element.start] + text[element.node.end : container.end - 1]
    return not beside.replace(",", "").strip()


def _cut(text: str, parent: JsonNode, index: int | None, trace: Trace) -> str:
    """Remove an element with the text put around it and any comma that separates nothing any more."""
    assert index is not None
    element = parent.elements[index]
    start, end = element.start, element.node.end
    is_last = index == len(parent.elements) - 1
    if trace.lead and text[:start].endswith(trace.lead):
        start -= len(trace.lead)
    else:
        start = len(text[:start].rstrip(" \t\r\n"))
    before = parent.elements[index - 1].node.end if index else parent.start + 1
    left, beside = text[before:start], ""
    if element.comma is None and index:
        comma = parent.elements[index - 1].comma
        assert comma is not None
        left = text[before:comma] + text[comma + 1 : start]
    if element.comma is not None:
        beside, end = text[end : element.comma].rstrip(), element.comma + 1
    elif is_last and trace.tail and text.startswith(trace.tail, end) and not _ends_in_comment(left):
        end += len(trace.tail)
    return text[:before] + _behind(_behind(left, beside, newline(text)), text[end:], newline(text))


def _behind(comment: str, rest: str, end: str) -> str:
    """Join the two so that `rest` does not become part of a comment to the end of the line."""
    is_swallowed = rest and _ends_in_comment(comment) and not AT_LINE_END.match(rest)
    return comment + (end if is_swallowed else "") + rest


def _ends_in_comment(text: str) -> bool:
    """Tell whether this run of blanks, commas and comments ends in a comment that goes to the end of its line."""
    *_, last = ["", *(found[0] for found in TOKEN.finditer(text))]
    return last.startswith("//")


def _written(value: Any, text: str, indent: str) -> str:
    lines = json.dumps(value, indent=unit(text), ensure_ascii=False).split("\n")
    return (newline(text) + indent).join(lines)


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]
