"""The editor of files of variables, `NAME=value` line by line, which some clients read at their start."""

import re
from typing import Any

from spliceconf.editor import Keys, Trace, Unreadable, newline

LINE = re.compile(r"[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=(?P<value>.*)")


class EnvEditor:
    """Edits variables; each line stands for itself, so every text can be parsed. `keys` is the one name."""

    def load(self, text: str) -> Any:
        found = (LINE.fullmatch(line) for line in text.removeprefix("\ufeff").splitlines())
        return {each["name"]: each["value"].strip().strip("\"'") for each in found if each}

    def snippet(self, keys: Keys, value: Any) -> str:
        return f"{keys[0]}={value}"

    def put(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        line = self.snippet(keys, value)
        if keys[0] in self.load(text):
            start, end = self._line(text, keys[0])
            return text[:start] + line + text[end:], Trace(old=text[start:end])
        lead = newline(text) if text and not text.endswith("\n") else ""
        return text + lead + line + newline(text), Trace(lead=lead)

    def take(self, text: str, keys: Keys, trace: Trace) -> str:
        start, end = self._line(text, keys[0])
        if trace.old is not None:
            return text[:start] + trace.old + text[end:]
        after = text[end:].removeprefix("\r").removeprefix("\n")
        return (text[:start].removesuffix(trace.lead) if not after else text[:start]) + after

    def append(self, text: str, keys: Keys, value: Any) -> tuple[str, Trace]:
        raise Unreadable("holds variables, not lists")

    def drop(self, text: str, keys: Keys, index: int, trace: Trace) -> str:
        raise Unreadable("holds variables, not lists")

    def _line(self, text: str, name: str) -> tuple[int, int]:
        """Return start and end of the last line that sets the variable, without its line end."""
        at, found = 0, (0, 0)
        for line in text.splitlines(keepends=True):
            bare = line.rstrip("\r\n")
            matched = LINE.fullmatch(bare.removeprefix("\ufeff"))
            if matched and matched["name"] == name:
                found = (at + len(bare) - len(bare.removeprefix("\ufeff")), at + len(bare))
            at += len(line)
        return found
