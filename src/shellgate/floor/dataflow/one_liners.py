"""One-liners of other languages: the floor does not parse those languages, but it reads the strings in them.

A string that names a protected path, a command that the floor would refuse, a process that multiplies: for each,
a person is asked. Strings assembled when it runs are beyond this; the sandbox is the wall there.
"""

import re
from collections.abc import Callable, Iterator

from shellgate import paths
from shellgate.decision import Decision
from shellgate.floor.arguments.actions import CommandContext
from shellgate.floor.arguments.shell_words import is_known
from shellgate.floor.programs import name_of
from shellgate.paths import Access
from shellgate.shell.program import Unknown, Word
from shellgate.verdicts import ask

LITERAL = {
    '"': re.compile(r'"((?:\\.|[^"\\])*)"'),
    "any": re.compile(
        r"\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`"
        r"|\bq[qwx]?\s*(?:\(([^)]*)|\{([^}]*)|\[([^\]]*)|<([^>]*)|\|([^|]*)|/([^/]*)|!([^!]*))"
    ),
}
_STRINGS = 1_000  # that are checked
_JOIN = re.compile(r"""(["'])\s*(?:[+.]|\.\.)?\s*(["'])""")  # 'a' + 'b', 'a' . 'b', 'a' 'b'
_PLUS = re.compile(r"""(["'])\s*[+.]{1,2}\s+?\1|(["'])\s*\+\s*\2""")  # where a text is but a dot
_RUNS = re.compile(
    r"\b(?:system|popen|exec[lv]?[pe]*|spawn\w*|subprocess|check_output|check_call|shell_exec|passthru|proc_open|getoutput"
    r"|child_process|execSync|execFile|posix_spawn\w*|os\.execute|io\.popen|Popen|IO\.popen|Open3|qx|pty|System\.cmd"
    r"|pcntl_exec|Runtime|ProcessBuilder|Command::new|do shell script|shell-command\w*|call-process)\b|%x|os:cmd|`"
)
_MAKES_CODE = re.compile(
    r"(?:(?<![.\w])(?:eval|exec|compile|load|assert|chr|pack|Function)|__import__|import_module|runInThisContext|loadstring"
    r"|b64decode|fromhex|unhexlify|decode_base64|atob|base64_decode|instance_eval|class_eval|create_function"
    r"|fromCharCode)\s*\("
)
_REMOVES = re.compile(
    r"rmtree|remove|unlink|rmdir|removedirs|rm_rf|rm_r|rmSync|\brm\b|rename|move|chmod|chown|truncate|rimraf|delete"
    r"|copytree|symlink|link"
)
_HOME = re.compile(
    r"Path\.home\(|Dir\.home|homedir\(|(?:ENV|env|environ|getenv)\W{1,3}HOME\b|\$ENV\{HOME|USERPROFILE|expanduser\(.~.\)"
)
_REMOVES_ALL = re.compile(
    r"rmtree|rm_rf?\b|rmSync|rmdirSync|remove_tree|remove_entry|removedirs|deleteDirectory|rimraf"
)
_BARE = re.compile(r"(?<![\w.\"'`/])[/~][\w./*~-]+")
_FORKS = re.compile(r"(?:\b|_)fork\b|\bThread\b.*\bwhile\b|cluster\.fork")
_HUB = re.compile(r"\bhubbub\b|/api/v1/approvals")

Guess = Callable[[str], bool]  # whether a string, taken for a command, is refused or asked about


def judge(code: Word, scene: CommandContext, is_refused: Guess) -> Iterator[Decision]:
    """Yield the floor's questions about a one-liner; it never denies one."""
    if not is_known(code):
        yield ask("F9", "Only running it tells the whole of the code that is run.")
    text = "".join("" if isinstance(part, Unknown) else part.text for part in code.parts)
    strings = [*literals(_PLUS.sub("", text)), *literals(_JOIN.sub("", text)), *literals(text)]
    strings += _BARE.findall(text)
    pairs = ["/".join(strings[at : at + 2]) for at in range(len(strings) - 1)]
    several = list(dict.fromkeys([*strings, *pairs]))
    if len(several) > _STRINGS:
        yield ask("F9", "The code has more strings in it than are looked at.")
        strings = strings[:_STRINGS]
    removes = _REMOVES.search(text) is not None
    for string in several[:_STRINGS]:
        yield from _path(string, scene, removes=removes)
    yield from _behaviour(text)
    if _RUNS.search(text) or any(each.startswith("|") or each.endswith("|") for each in strings):
        commands = [*strings, " ".join(strings)]
        if not strings or any(is_refused(each.strip("| ")) for each in commands):
            yield ask("F9", "The code runs another command, and not one that is known to be harmless.")


def literals(text: str, quotes: str = "any") -> list[str]:
    """Return the strings in a piece of code."""
    found = ("".join(filter(None, match.groups())) for match in LITERAL[quotes].finditer(text))
    return [
        re.sub(r"\\(x2f|057)", "/", each).replace("\\/", "/").replace("\\n", "\n").replace("\\\\", "\\")
        for each in found
    ]


def _behaviour(text: str) -> Iterator[Decision]:
    if _FORKS.search(text):
        yield ask("F2", "The code makes processes, and nobody knows how many.")
    if _HOME.search(text) and _REMOVES_ALL.search(text):
        yield ask("F1", "The code may remove all of a home.")
    if _MAKES_CODE.search(text):
        yield ask("F9", "The code runs code that it makes itself.")
    if _HUB.search(text):
        yield ask("F8", "The code speaks of hubbub: a policy changes only by a person's hand.")


def _path(string: str, scene: CommandContext, *, removes: bool) -> Iterator[Decision]:
    """Yield the decisions on a string, taken for a path."""
    if not string or len(string) > paths.LONGEST or "\n" in string:
        return
    written = re.sub(r"^(?:file://|[+<>|&]+\s*)", "", string)  # also as perl's `open` has it
    path = scene.world.absolute(paths.with_home(written, scene.world), scene.here)
    access = Access.WRITE if _may_change(string) else Access.READ
    if (said := paths.protected(path, access, scene.world)) is not None:
        yield ask(said.rule_id, f"The code names a protected path. {said.reason}")
    elif paths.is_block_device(path):
        yield ask("F3", f"The code names a block device, {path}.")
    elif removes and (string == "HOME" or _is_vital(string, path, scene)):
        yield ask("F1", f"The code may remove or change all of `{string}`.")


def _is_vital(string: str, path: str, scene: CommandContext) -> bool:
    return string.startswith(("/", "~", ".")) and paths.vital(path, scene.world) is not None


def _may_change(string: str) -> bool:
    """Tell whether a string can be the name of a writable file: a text with blanks in it is none."""
    return not re.search(r"\s", string) and name_of(string) != ""
