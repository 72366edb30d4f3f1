"""Paths printed by substitutions: `cp x "$(git rev-parse --git-dir)/hooks/pre-commit"`.

The output of a command is known only when it runs. A few are known to print nothing that leads to new places, and some
print Git's own paths; a person is asked before a write to any other printed path.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from shellgate.floor.arguments.actions import CommandContext
from shellgate.floor.dataflow import hints
from shellgate.shell.program import Text, Unknown, Word, WordPart

_SUBSTITUTION = re.compile(r"\$\((?!\()|`")
_WHOLE = re.compile(r"""["']?(?:\$\((?P<new>.*)\)|`(?P<old>.*)`)["']?""", re.DOTALL)
_GIT_DIR = re.compile(
    r"\s*git(?:\s+-C\s+\S+)?\s+rev-parse\s+--(?:absolute-git-dir|git-dir|git-common-dir)\s*"
)
_GIT_PATH = re.compile(r"\s*git(?:\s+-C\s+\S+)?\s+rev-parse\s+--git-path\s+[\"']?([\w./-]+)[\"']?\s*")

# Commands that print a name without a slash, a number, an existing folder, or their own words.
_TAME = re.compile(
    r"""\s*(?:
        (?:mktemp|basename|dirname|pwd|whoami|hostname|uname|arch|id|nproc|uuidgen|seq|wc|expr|realpath|readlink|which|ls)~
      | cd\s+[^;&<>\n]+&&\s*pwd~
      | date(?:\s+[^/+]*)?(?:\+[^/.][^/]*)?
      | command\s+-v~
      | echo\s+[^;&<>\\\n]*
      | (?:go\s+env|npm\s+(?:root|bin|prefix)|brew\s+--prefix|pkg-config|getconf|xcode-select)~
      | git\s+(?:-C\s+\S+\s+)?rev-parse(?:\s+(?:--short(?:=\d+)?|--abbrev-ref|--verify|--show-(?:toplevel|prefix|cdup)
                                              |[A-Za-z@][\w@{}^/.-]*))+
      | git\s+(?:branch\s+--show-current|describe~|symbolic-ref\s+--short\s+HEAD)
      | git\s+log\s+-1\s+--(?:pretty|format)=(?:format:)?["']?%[a-zA-Z]{1,2}["']?~
    )\s*""".replace("~", r"(?:\s[^;&<>\n]*)?"),
    re.VERBOSE,
)
# Commands that only select from their input, or add nothing that leads on.
_FILTERS = re.compile(
    r"""\s*(?:
        (?:cut|head|tail|sort|uniq|xargs\s+(?:basename|dirname))(?:\s[^;&<>\n]*)?
      | tr\s+(?:-[ds]\s+)?(?:["']?(?:[Aa]-[Zz]|\[:(?:upper|lower|space):\]|[ _-]|\\n)["']?\s*){1,2}
      | awk\s+(?:-F\s*\S+\s+)?'\{\s*print\s+\$\w+\s*\}'
      | g?sed\s+(?:-E\s+)?["']?s([/,\#])[^'"]*\1[\w-]*(?:\.(?!git|env)\w+)?\1g?["']?
    )\s*""",
    re.VERBOSE,
)
_LISTS = re.compile(r"\s*(?:git\s+(?:ls-files|diff|grep|status)|grep|rg|find|fd|ls|xargs)\s.*", re.DOTALL)
_MOVES = frozenset({"cd", "pushd"})


def told(word: Word, scene: CommandContext) -> Word:
    """Return the word with the printed paths that are known to be Git's own."""
    if not any(
        isinstance(part, Unknown) and ("$" in part.source or "`" in part.source) for part in word.parts
    ):
        return word
    return replace(word, parts=tuple(_told(part, scene) for part in word.parts))


def _told(part: WordPart, scene: CommandContext) -> WordPart:
    if not isinstance(part, Unknown):
        return part
    sources = [part.source] if _SUBSTITUTION.match(part.source) else list(hints.settings(part.source, scene))
    whole = _WHOLE.fullmatch(sources[0]) if len(sources) == 1 else None
    text = (whole["new"] or whole["old"] or "") if whole else ""
    if _GIT_DIR.fullmatch(text):
        return Text(".git")
    path = _GIT_PATH.fullmatch(text)
    return Text(f".git/{path[1]}") if path else part


def is_untold(word: Word, scene: CommandContext) -> bool:
    """Tell whether a path is printed by a command with unknown output."""
    is_whole = len(word.parts) == 1 and isinstance(word.parts[0], Unknown) and word.parts[0].may_be_many
    return any(
        not _is_tame(source) and not (is_whole and _is_list(source)) for source in hints.sources(word, scene)
    )


def is_led(scene: CommandContext) -> bool:
    """Tell whether the program goes to a folder that such a command prints."""
    return any(
        is_untold(word, scene)
        for command in (*scene.around, *scene.program.commands)
        if command.name is not None and command.name.value in _MOVES
        for word in command.words[1:]
    )


def _is_tame(source: str) -> bool:
    """Tell whether each substitution in a source, and each within it, prints nothing that leads to new places."""
    for text in _printers(source):
        flat = text
        for inner in _printers(text):
            if not _is_tame(f"$({inner})"):
                return False
            flat = flat.replace(f"$({inner})", "_").replace(f"`{inner}`", "_")
        first, *others = flat.split("|")
        if not _TAME.fullmatch(first) or not all(map(_FILTERS.fullmatch, others)):
            return False
    return True


def _is_list(source: str) -> bool:
    return all(_LISTS.fullmatch(text) for text in _printers(source))


def _printers(source: str) -> Iterator[str]:
    """Yield the texts of the substitutions in a source, one by one; an inner one is a part of its outer one."""
    at = 0
    while found := _SUBSTITUTION.search(source, at):
        start = found.end()
        at = _end(source, start) if found[0] != "`" else (source.find("`", start) + 1) or len(source) + 1
        yield source[start : at - 1]


def _end(source: str, start: int) -> int:
    """Return the index after the parenthesis that closes the one at `start`."""
    depth = 1
    for at in range(start, len(source)):
        depth += (source[at] == "(") - (source[at] == ")")
        if not depth:
            return at + 1
    return len(source) + 1
