"""The editor of YAML: our entry goes to the top of its mapping, where no foreign line can be taken for its own."""

import json
from typing import Any

import yaml

from spliceconf.editor import (
    MISSING,
    Keys,
    Trace,
    Unreadable,
    find,
    joined,
    newline,
    require_same,
    unit,
)

Pair = tuple[yaml.ScalarNode, yaml.Node]


class YamlEditor:
    """Edits YAML whose keys are texts; entries are mappings two levels deep or more. It does not append to lists."""

    def load(self, text: str) -> Any:
        try:
            data = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise Unreadable(f"is not YAML{_where(error)}") from None
        return {} if data is None else data

    def snippet(self, keys: Keys, value: Any) -> str:
        for key in reversed(keys):
            value = {key: value}
        return "\n".join(_lines(value, "  "))

    def put(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        before = self.load(text)
        if not isinstance(before, dict):
            raise Unreadable("does not have a mapping at its top")
        if find(before, keys) is MISSING:
            new, trace = self._insert(text, keys, value)
        else:
            start, end = self._block(text, keys)
            lines = _lines({keys[-1]: value}, unit(text), _column(text, start))
            new = text[:start] + _joined(lines, text) + text[end:]
            trace = Trace(old=text[start:end])
        self._require(before, new, keys)
        if find(self.load(new), keys) != value:
            raise Unreadable("cannot be changed without touching entries of others")
        return new, trace

    def take(self, text: str, keys: Keys, trace: Trace) -> str:
        before = self.load(text)
        start, end = self._block(text, keys)
        if not trace.made:
            new = joined(text[:start] + (trace.old or ""), "", text[end:])
        elif len(find(before, keys[:-1])) > 1:
            new = text[:start] + text[end:]
        elif trace.old is not None:
            colon = _colon(text, keys[:-1])
            new = joined(text[:colon] + trace.old + text[colon:start], trace.lead, text[end:])
        else:
            new = self._without_section(text, keys, trace)
        self._require(before, new, keys)
        return new

    def append(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        raise Unreadable("is YAML, where lists cannot be added to")

    def drop(self, text: str, keys: Keys, index: int, trace: Trace) -> str:
        raise Unreadable("is YAML, where lists cannot be added to")

    def _without_section(self, text: str, keys: Keys, trace: Trace) -> str:
        """Return the text without our section; if it holds a foreign comment, only without the entry."""
        (start, end), (top, bottom) = self._block(text, keys), self._block(text, keys[:-1])
        if (text[top:start] + text[end:bottom]).strip() != f"{keys[0]}:":
            return text[:start] + text[end:]
        return joined(text[:top], trace.lead, text[bottom:])

    def _insert(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        if find(self.load(text), keys[:-1]) in (None, {}):
            return self._fill(text, keys, value)
        pair = _pair(text, keys[:-1])
        if pair is None:
            lead = newline(text) if text and not text.endswith("\n") else ""
            lines = _lines({keys[0]: {keys[1]: value}}, unit(text))
            return text + lead + _joined(lines, text), Trace(lead=lead, made=1)
        key, node = pair
        if not isinstance(node, yaml.MappingNode) or node.flow_style:
            raise Unreadable(f"has {'.'.join(keys[:-1])} in a form other than a block of lines")
        at = text.rfind("\n", 0, node.start_mark.index) + 1
        if node.start_mark.line == key.start_mark.line:
            raise Unreadable(f"has {'.'.join(keys[:-1])} in a form other than a block of lines")
        indent = " " * node.start_mark.column
        lines = _lines({keys[-1]: value}, unit(text), indent)
        return text[:at] + _joined(lines, text) + text[at:], Trace()

    def _fill(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        """Put the entry into a section that is `{}` or empty, in one line."""
        pair, at = _pair(text, keys[:-1]), _colon(text, keys[:-1])
        assert pair is not None
        key, node = pair
        old = text[at : node.end_mark.index]
        if node.start_mark.index < at or set(old) & {"#", "\n"}:
            raise Unreadable(f"has {'.'.join(keys[:-1])} in a form other than a block of lines")
        start = text.find("\n", node.end_mark.index) + 1
        lead = "" if start else newline(text)
        start = start or len(text)
        lines = _lines({keys[-1]: value}, unit(text), " " * key.start_mark.column + unit(text))
        new = text[:at] + text[node.end_mark.index : start] + lead + _joined(lines, text) + text[start:]
        return new, Trace(lead=lead, made=1, old=old)

    def _block(self, text: str, keys: Keys) -> tuple[int, int]:
        """Return start and end of the lines of the entry at `keys`."""
        pair = _pair(text, keys)
        if pair is None or pair[0].start_mark.line == pair[1].end_mark.line:
            raise Unreadable(f"has {'.'.join(keys)} in a form other than a block of lines")
        key, node = pair
        start = text.rfind("\n", 0, key.start_mark.index) + 1
        end = _last_end(node)
        after = text.find("\n", end)
        return start, len(text) if after < 0 else after + 1

    def _require(self, before: Any, new: str, keys: Keys) -> None:
        try:
            after = self.load(new)
        except Unreadable:
            raise Unreadable("cannot be changed without touching entries of others") from None
        require_same(before, after, keys)


def _pair(text: str, keys: Keys) -> Pair | None:
    """Return the key and the value that `keys` lead to."""
    node, pair = yaml.compose(text, Loader=yaml.SafeLoader), None
    for key in keys:
        pairs: list[Pair] = node.value if isinstance(node, yaml.MappingNode) else []
        found = [each for each in pairs if each[0].value == key]
        if len(found) > 1:
            raise Unreadable(f"has {key!r} twice")
        if not found:
            return None
        pair = found[0]
        node = pair[1]
    return pair


def _colon(text: str, keys: Keys) -> int:
    """Return the position after the key's colon."""
    pair = _pair(text, keys)
    assert pair is not None
    end = pair[0].end_mark.index
    colon = text.find(":", end)
    if colon < 0 or text[end:colon].strip(" \t"):
        raise Unreadable(f"has {'.'.join(keys)} in a form other than a block of lines")
    return colon + 1


def _last_end(node: yaml.Node) -> int:
    """Return the end of a value's last word; a block's own end mark is at the beginning of the next thing."""
    if isinstance(node, yaml.MappingNode) and node.value and not node.flow_style:
        return _last_end(node.value[-1][1])
    if isinstance(node, yaml.SequenceNode) and node.value and not node.flow_style:
        return _last_end(node.value[-1])
    end: int = node.end_mark.index
    return end


def _lines(value: dict[str, Any], step: str, indent: str = "") -> list[str]:
    lines = []
    for key, each in value.items():
        if isinstance(each, dict):
            lines += [f"{indent}{key}:", *_lines(each, step, indent + step)]
        else:
            lines.append(f"{indent}{key}: {_scalar(each)}")
    return lines


def _scalar(value: Any) -> str:
    """Return a value in the form that JSON and YAML share; a plain word stays plain."""
    is_plain = isinstance(value, str) and value.replace("_", "").isalpha() and yaml.safe_load(value) == value
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def _joined(lines: list[str], text: str) -> str:
    return "".join(line + newline(text) for line in lines)


def _column(text: str, start: int) -> str:
    line = text[start : text.find("\n", start)]
    return line[: len(line) - len(line.lstrip(" "))]


def _where(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f": line {mark.line + 1}" if mark is not None else ""
