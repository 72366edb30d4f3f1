"""Side effects of programs: code printed for them, ways out to a shell, files that their languages name.

Each of these is added to the result of the program's own reader or table; nothing here makes anything harmless.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from shellgate.floor.arguments.actions import (
    Action,
    FloorVerdict,
    ProgramCall,
    RunCommand,
    RunShell,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import plain, unknown, without
from shellgate.floor.arguments.usage_tables import names
from shellgate.floor.dataflow import standard_input
from shellgate.floor.readers import by_table, find_command
from shellgate.verdicts import ask

# Options whose value is a file with code in it: one that is printed on the way, `-f <(…)`, was not read.
_CODE_FILES: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(names("make gmake bmake"), re.compile(r"-f|--(make)?file.*")),
    **dict.fromkeys(names("vi vim nvim view ex gvim"), re.compile(r"-[Su]")),
    **dict.fromkeys(names("sed gsed"), re.compile(r"-\w*f|--file.*")),
    **dict.fromkeys(names("awk gawk mawk nawk"), re.compile(r"-[fiElI]|--(file|include|exec).*")),
    **dict.fromkeys(names("gdb lldb"), re.compile(r"-i?x|-[sS]|--(init-)?command.*|--source.*")),
    **dict.fromkeys(names("ssh scp sftp"), re.compile(r"-F")),
    **dict.fromkeys(names("bash sh zsh dash ksh"), re.compile(r"--(rc|init-)file.*")),
    **dict.fromkeys(names("cmake php lua"), re.compile(r"-[PCc]")),
    **dict.fromkeys(names("perl ruby node"), re.compile(r"-[rI]|--(require|import|loader).*")),
    **dict.fromkeys(names("psql mysql sqlite3 bc"), re.compile(r"-f|--file.*|-init")),
}
_EXECUTES = re.compile(r"-\w*[xX]$|--exec(-batch)?(=|$)")
_SSH_CODE = re.compile(
    r"(?i)(proxycommand|localcommand|knownhostscommand|permitlocalcommand|proxyusefdpass)[= ]"
)
_DISK_VERBS = re.compile(
    r"(?i)(secure)?erase.*|partition.*|zero.*|random.*|reformat.*|deletecontainer|deletevolume"
)
_LOADS = re.compile(r"""\b(?:load(?:_\w+)?|import|include|input_filename|getpath)\b[\s(]*"([^"]+)\"""")
_READS_INPUT = re.compile(
    r"STDIN|\$stdin|\bARGF\b|<>|\bgets\b|sys\.stdin|process\.stdin|php://stdin|/dev/stdin"
)
_RUNS_TEXT = re.compile(r"\b(?:eval|exec|system|instance_eval|Function|compile|loadstring|load)\b")


def read(call: ProgramCall) -> Iterator[Action]:
    """Yield the additional actions of a program."""
    if (pattern := _CODE_FILES.get(call.name)) is not None:
        yield from _printed_code(pattern, call)
    if (reader := _READERS.get(call.name)) is not None:
        yield from reader(call)


def _printed_code(pattern: re.Pattern[str], call: ProgramCall) -> Iterator[Action]:
    for option, word in zip(call.arguments, call.arguments[1:], strict=False):
        if word.source.startswith(("<(", "/dev/fd/")) and pattern.fullmatch(option.value or ""):
            yield FloorVerdict(ask("F6", f"What `{word.source}` prints runs unseen."))
    for word in call.arguments:
        option_name, _, rest = word.source.partition("=")
        if rest.startswith("<(") and pattern.fullmatch(option_name):
            yield FloorVerdict(ask("F6", f"What `{rest}` prints runs unseen."))


def _pager(call: ProgramCall) -> Iterator[Action]:
    """`less +COMMAND`: a `!` or a `|` in it starts a shell."""
    for word in call.arguments:
        text = word.value or word.known_start
        if text.startswith("+") and re.search(r"[!|]", text):
            yield RunShell(plain(re.split(r"!|\|.?", text, maxsplit=1)[1]))
            yield FloorVerdict(ask("F9", "The pager is told to run a command."))


def _modes(call: ProgramCall) -> Iterator[Action]:
    """`chmod -R -x FOLDER`: a mode that begins with a dash is the mode nevertheless."""
    modes = [word for word in call.arguments if re.fullmatch(r"-[rwxXst]+(,.*)?", word.value or "")]
    if modes:
        rest = tuple(word for word in call.arguments if word not in modes)
        yield RunCommand((plain("chmod"), plain("a-x"), *rest))


def _executes(call: ProgramCall) -> Iterator[Action]:
    """`fd PATTERN FOLDER… -x COMMAND`: like `find -exec`."""
    words = list(call.arguments)
    at = next((place for place, word in enumerate(words) if _EXECUTES.match(word.known_start)), None)
    if at is None:
        return
    attached = (
        without(words[at], words[at].known_start.index("=") + 1) if "=" in words[at].known_start else None
    )
    command = [*([attached] if attached else []), *words[at + 1 :]]
    ends = [place for place, word in enumerate(command) if word.value == ";"]
    before = [*words[:at], *(command[ends[0] + 1 :] if ends else [])]
    command = command[: ends[0]] if ends else command
    given = [word for word in before if not word.known_start.startswith("-")]
    found = find_command.Search(given[1:] or [plain(".")])
    text = re.sub(r"\\(.)|[$^]", r"\1", given[0].value or "") if given else ""
    if text.strip(".*"):
        found.names.append(plain(text if text.startswith(".") else f"*{text}*"))
    found.is_below = True
    found.leaves_hidden = not any(
        re.match(r"-\w*[Hu]|--hidden|--unrestricted", word.known_start) for word in before
    )
    if not any("{" in (word.value or "") for word in command):
        command.append(plain(find_command.FOUND))
    if command:
        yield from find_command.executed(tuple(command), found, call)


def _remote(call: ProgramCall) -> Iterator[Action]:
    """`ssh -o`, `scp -o`, `sftp -o`: settings that are commands, and those that are files."""
    for place, word in enumerate(call.arguments):
        value = without(word, 2) if word.known_start.startswith("-o") else None
        if value is not None and not value.parts:
            value = call.arguments[place + 1] if place + 1 < len(call.arguments) else None
        if value is None:
            continue
        text = value.known_start
        if found := _SSH_CODE.match(text):
            yield RunShell(without(value, found.end()))
        elif sign := re.search(r"[= ]\s*", text):
            yield TouchPath(without(value, sign.end()), Use.EITHER)


def _watcher(call: ProgramCall) -> Iterator[Action]:
    """`entr -s`, `watchexec`: one word with blanks is a command line."""
    yield from (RunShell(word) for word in call.arguments if " " in (word.value or ""))


def _records(call: ProgramCall) -> Iterator[Action]:
    """Read `script FILE COMMAND…`, as on some systems."""
    words = list(call.arguments)
    while words and words[0].known_start.startswith("-"):
        del words[: 2 if words[0].value in ("-c", "-I", "-O", "-B", "-T", "-E", "-m", "-o") else 1]
    rest = [word for word in words[1:2] if word.value != "--"] + words[2:]
    if rest and not rest[0].known_start.startswith("-"):
        yield RunCommand(tuple(rest))


def _daemon(call: ProgramCall) -> Iterator[Action]:
    """`start-stop-daemon --exec PROGRAM -- WORDS…`."""
    values = [word.value for word in call.arguments]
    rest = call.arguments[values.index("--") + 1 :] if "--" in values else ()
    for place, value in enumerate(values[:-1]):
        if value in ("--exec", "-x", "--startas", "-a"):
            yield RunCommand((call.arguments[place + 1], *rest))


def _cmake(call: ProgramCall) -> Iterator[Action]:
    """`cmake -E COMMAND`: a little shell of its own."""
    values = [word.value for word in call.arguments]
    if "-E" not in values:
        return
    words = call.arguments[values.index("-E") + 1 :]
    name = words[0].value if words else None
    same = {
        "remove_directory": "rm -r",
        "remove": "rm",
        "rename": "mv",
        "copy": "cp",
        "copy_directory": "cp -r",
    }
    if name == "chdir" and len(words) > 2:
        yield RunCommand(words[2:], cwd=words[1])
    elif name in same:
        yield RunCommand((*map(plain, same[name].split()), *words[1:]))
    elif name in ("rm", "env", "time", "touch", "cat", "create_symlink", "tar"):
        yield RunCommand(words)


def _disk_tool(call: ProgramCall) -> Iterator[Action]:
    if any(_DISK_VERBS.fullmatch(word.value or "") for word in call.arguments):
        yield FloorVerdict(ask("F3", f"`{call.name}` would overwrite a disk."))


def _multicall(call: ProgramCall) -> Iterator[Action]:
    """`coreutils --coreutils-prog=NAME`."""
    for place, word in enumerate(call.arguments):
        if word.known_start.startswith("--coreutils-prog="):
            yield RunCommand((without(word, len("--coreutils-prog=")), *call.arguments[place + 1 :]))


def _filters(call: ProgramCall) -> Iterator[Action]:
    """`jq`, `yq`: files that the filter itself loads; with `-i` the files are rewritten."""
    rewrites = any(re.fullmatch(r"-\w*i\w*|--in-?place.*", word.known_start) for word in call.arguments)
    for word in call.arguments:
        yield from (TouchPath(plain(found[1]), Use.READ) for found in _LOADS.finditer(word.value or ""))
        if rewrites and call.name != "jq" and not word.known_start.startswith("-"):
            yield TouchPath(word, Use.WRITE)


def _speaks(call: ProgramCall) -> Iterator[Action]:
    """Yield a question about given code that runs its piped input."""
    if not call.scene.command.is_piped and standard_input.given(call.scene.command) is None:
        return
    for word in call.arguments:
        if _READS_INPUT.search(word.source) and _RUNS_TEXT.search(word.source):
            yield FloorVerdict(ask("F6", "The code runs its piped input."))


def _compilers(call: ProgramCall) -> Iterator[Action]:
    """`@FILE`: more arguments, from a file."""
    for word in call.arguments:
        if word.known_start.startswith("@"):
            yield TouchPath(without(word, 1), Use.READ)


def _unpacker(call: ProgramCall) -> Iterator[Action]:
    """`gunzip NAME.gz` makes NAME."""
    flags = "".join(word.known_start for word in call.arguments if re.match(r"-\w", word.known_start))
    unpacks = (
        call.name.startswith("un") or call.name.endswith("unzip2") or call.name == "gunzip" or "d" in flags
    )
    if not unpacks or set("ctl") & set(flags):
        return
    for word in call.arguments:
        head, dot, _ = (word.value or "").rpartition(".")
        if dot and head.strip("-./"):
            yield TouchPath(plain(head), Use.WRITE)


def _multiplexer(call: ProgramCall) -> Iterator[Action]:
    """`tmux source-file FILE`."""
    for before, word in zip(call.arguments, call.arguments[1:], strict=False):
        if before.value in ("source-file", "source"):
            yield TouchPath(word, Use.READ)


def _login(_call: ProgramCall) -> Iterator[Action]:
    """`newgrp`, `sg`: a shell."""
    yield RunCommand((plain("sh"),))


def _files_of_input(call: ProgramCall) -> Iterator[Action]:
    """`parallel … :::: FILE`, `{.}`, `{1}`: what lies in files, or is put together."""
    values = [word.value or "" for word in call.arguments]
    at = next((place for place, value in enumerate(values) if value.startswith(":::")), len(values))
    given = [word for word in call.arguments[at:] if not word.known_start.startswith(":::")]
    template = [word for word in call.arguments[:at] if not word.known_start.startswith("-")]
    if values[at : at + 1] == ["::::"]:
        yield from (TouchPath(word, Use.READ) for word in given)
        given = [unknown("a line of a file")]
    if not template or not given:
        return
    if len(given) > 1 or any(re.search(r"\{[^}]", value) for value in values[:at]):
        kept = [word for word in call.arguments[:at] if not re.search(r"\{.*\}|^-[NnjI]", word.value or "")]
        yield RunShell(by_table.spaced([*kept, *given]))
    if values[:1] and re.fullmatch(r"(.*/)?\w*sh", template[0].value or "") and "-c" in values[:at]:
        yield from (RunShell(word) for word in given)


def _yes(call: ProgramCall) -> Iterator[Action]:
    """`yes | xargs -P0 …`: as many processes as the machine bears."""
    before = call.scene.command.reads_from
    endless = before is not None and before.name is not None and before.name.value in ("yes", "cat")
    is_wide = any(re.fullmatch(r"-P\s*0|--max-procs=0", word.value or "") for word in call.arguments)
    if endless and before is not None and before.name is not None and before.name.value == "yes" and is_wide:
        yield FloorVerdict(ask("F2", "It starts processes without bound."))


def _gathers(call: ProgramCall) -> Iterator[Action]:
    """`find -files0-from FILE`: where it starts is told by a file."""
    if any(word.value == "-files0-from" for word in call.arguments):
        yield TouchPath(unknown("a name in a file"), Use.DELETE, descends=True, must_be_known=_changes(call))


def _changes(call: ProgramCall) -> bool:
    return any(word.value in ("-delete", "-exec", "-execdir", "-ok") for word in call.arguments)


def _credentials(call: ProgramCall) -> Iterator[Action]:
    """`git credential-store --file`."""
    if any(word.known_start.startswith("credential-") for word in call.arguments):
        yield from (TouchPath(word, Use.EITHER) for word in call.arguments)


def _clones(call: ProgramCall) -> Iterator[Action]:
    """Read `gh repo clone NAME … -- OPTIONS…`: the options are those of `git clone`."""
    values = [word.value for word in call.arguments]
    if values[:1] == ["repo"] and "--" in values:
        options = call.arguments[values.index("--") + 1 :]
        yield RunCommand((plain("git"), plain("clone"), *options, *call.arguments[2:3]))


_Reader = Callable[[ProgramCall], Iterator[Action]]
_READERS: Mapping[str, _Reader] = {
    **dict.fromkeys(names("less more most man zless bat batcat"), _pager),
    **dict.fromkeys(names("ssh scp sftp autossh sshfs ssh-copy-id"), _remote),
    **dict.fromkeys(names("entr watchexec reflex nodemon"), _watcher),
    "chmod": _modes,
    **dict.fromkeys(names("fd fdfind"), _executes),
    "script": _records,
    "start-stop-daemon": _daemon,
    "cmake": _cmake,
    "diskutil": _disk_tool,
    "coreutils": _multicall,
    **dict.fromkeys(names("jq gojq jaq yq xq tomlq"), _filters),
    **dict.fromkeys(names("perl ruby python node php lua"), _speaks),
    **dict.fromkeys(names("gcc g++ cc c++ clang clang++ javac ld rustc ar tcc"), _compilers),
    **dict.fromkeys(names("gunzip bunzip2 unxz unlzma unzstd uncompress gzip bzip2 xz zstd"), _unpacker),
    **dict.fromkeys(names("tmux screen"), _multiplexer),
    **dict.fromkeys(names("newgrp sg"), _login),
    "parallel": _files_of_input,
    **dict.fromkeys(names("xargs gxargs"), _yes),
    **dict.fromkeys(names("find gfind"), _gathers),
    "git": _credentials,
    "gh": _clones,
}
