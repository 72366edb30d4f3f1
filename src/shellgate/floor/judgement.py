"""Judgement of commands' actions by the floor: each command, and each that it runs, is a part of the call."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from shellgate import paths
from shellgate.analysis import CallPart
from shellgate.decision import Decision, Effect
from shellgate.floor import fork_bombs, path_clauses, shipped_policy
from shellgate.floor.arguments.actions import (
    Action,
    CommandContext,
    Concern,
    FloorVerdict,
    OnlyReads,
    ProgramCall,
    ReadingBudget,
    RunCode,
    RunCommand,
    RunShell,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import has_pattern, is_known, plain
from shellgate.floor.dataflow import (
    inherited_environment,
    made_links,
    one_liners,
    standard_input,
    written_scripts,
)
from shellgate.floor.dataflow.path_resolution import leads
from shellgate.floor.programs import name_of, read_only_options
from shellgate.floor.readers import actions_of
from shellgate.floor.readers.environment import SETTERS, assignment, steers
from shellgate.paths import Access
from shellgate.shell.program import Program, Redirect, Unknown, Word
from shellgate.shell.read import read as read_shell
from shellgate.verdicts import ask, deny
from shellgate.world import World

TOOL = "execute_command"
DEPTH_LIMIT = 32
WORD = 5  # characters of a word in a text, more or less
_TOO_MUCH = deny("F9", "It has too many words, in it and in the commands that it runs, to be read.")
_TESTED = re.compile(r"(?:^|[\s(!])-[abcdefghkprstuwxGLNOS]\s+([^\s\])]+)")
_FILLERS = frozenset({"read", "mapfile", "readarray", "getopts"})  # they set variables named by their words
CANDIDATES = 20  # programs that a pattern in the place of a name is expanded to


@dataclass(slots=True)
class Finding:
    """The findings on one command: its own unfinished part, and the parts of the commands it runs."""

    floor: list[Decision] = field(default_factory=list)
    concerns: list[str] = field(default_factory=list)
    inner: list[CallPart] = field(default_factory=list)
    only_reads: bool = False


def of_program(
    program: Program,
    world: World,
    effort: ReadingBudget,
    *,
    depth: int = 0,
    outer: CommandContext | None = None,
) -> Iterator[CallPart]:
    """Yield the parts of a program; `outer` is the scene in which it is code."""
    sets = frozenset(_variables(program))
    is_steered = any(map(steers, sets))
    shows_hidden = _shows_hidden(program)
    made = tuple(made_links.made(program, world))
    is_lost = outer is not None and outer.cwd is None
    yield from _tests(program, world)
    for command in program.commands:
        cwd = None if is_lost else command.cwd
        scene = CommandContext(
            world=world,
            program=program,
            command=command if outer is None else standard_input.within(command, outer.command),
            cwd=cwd,
            effort=effort,
            depth=depth,
            shows_hidden=shows_hidden,
            sets=sets if outer is None else sets | outer.sets,
            links=made,
            around=() if outer is None else (*outer.around, *outer.program.commands),
            environment=() if outer is None else tuple(inherited_environment.words(outer)),
        )
        for part in of_simple(scene):
            yield replace(part, may_be_allowed=False, is_harmless=False) if is_steered else part


def _tests(program: Program, world: World) -> Iterator[CallPart]:
    """Yield the files of `[[ -f FILE ]]`, which are in no command."""
    for word in program.mentioned:
        for found in _TESTED.finditer(word.value or ""):
            path = paths.with_home(found[1].strip("\"'"), world)
            if "$" not in path and (said := paths.protected(path, Access.LIST, world)) is not None:
                yield CallPart(tool=TOOL, target=word.source, floor=(ask(said.rule_id, said.reason),))


def _variables(program: Program) -> Iterator[str]:
    """Yield the variables that a program sets, by assignment or by a command of the shell."""
    for command in program.commands:
        yield from (each.name for each in command.assignments)
        values = [word.known_start for word in command.words]
        if values[:1] and (values[0] in SETTERS | _FILLERS or values[:2] == ["printf", "-v"]):
            yield from (value.removeprefix("-v").partition("=")[0] for value in values[1:])


def _shows_hidden(program: Program) -> bool:
    """Tell whether the program makes patterns match hidden names: by `dotglob`, or by setting GLOBIGNORE."""
    return any(
        any("dotglob" in word.source for word in command.words)
        or any(each.name == "GLOBIGNORE" for each in command.assignments)
        for command in program.commands
    )


def whole(program: Program) -> Iterator[Decision]:
    """Yield the decisions on a program as a whole: doubts, and functions that multiply."""
    for doubt in program.doubts:
        yield ask("F9", f"It cannot be read with certainty: {doubt.reason}.")
    yield from fork_bombs.judge(program)
    if any(word.value == "nocaseglob" for each in program.commands for word in each.words[1:]):
        yield ask("F9", "It has its patterns fit more names than is looked at here.")


def of_simple(scene: CommandContext) -> list[CallPart]:
    """Return the parts of one simple command, with its assignments and redirections, and the commands it runs."""
    command = scene.command
    if not scene.effort.spend(len(command.words)):
        return [CallPart(tool=TOOL, target=command.source, floor=(_TOO_MUCH,))]
    found = Finding()
    for each in command.assignments:
        _take_all(assignment(each.name, each.value, scene) if command.words else (), scene, found)
    redirects = [deed for redirect in command.redirects for deed in _redirected(redirect)]
    _take_all(redirects, scene, found)
    if command.words:
        _named(command.words, scene, found)
    else:
        found.only_reads = True
    steered = [each.name for each in command.assignments if steers(each.name)]
    if steered and not command.words:
        found.concerns.append(f"it sets {steered[0]}, which changes what runs")
    if command.words and (clause := shipped_policy.concern_of_folder(scene)):
        found.concerns.append(clause)
    is_plain = not steered and all(
        _is_plain(deed, scene) for deed in redirects if isinstance(deed, TouchPath)
    )
    part = _part(command.words, command.source, found, is_plain=is_plain)
    return [part, *found.inner]


def of_words(words: tuple[Word, ...], scene: CommandContext) -> list[CallPart]:
    """Return the parts of a command that another runs."""
    if not scene.effort.spend(len(words)):
        return [CallPart(tool=TOOL, target="", floor=(_TOO_MUCH,))]
    found = Finding()
    _named(words, scene, found)
    return [_part(words, " ".join(word.source for word in words), found), *found.inner]


def _part(words: tuple[Word, ...], source: str, found: Finding, *, is_plain: bool = True) -> CallPart:
    is_named = not words or words[0].value is not None
    return CallPart(
        tool=TOOL,
        target=" ".join(word.value or word.source for word in words) if words else source,
        words=tuple(word.pattern for word in words),
        floor=tuple(dict.fromkeys(found.floor)),
        may_be_allowed=is_named and is_plain,
        is_harmless=found.only_reads and is_named and is_plain and not found.floor and not found.concerns,
        concern=next(iter(found.concerns), None),
    )


def _named(words: tuple[Word, ...], scene: CommandContext, found: Finding) -> None:
    """Judge a command by its name; F9 asks if the name is known only when it runs."""
    name = words[0].value
    names = [name] if name is not None else []
    if name is None:
        found.floor.append(ask("F9", f"Only running it tells which program `{words[0].source}` is."))
        if has_pattern(words[0]) and is_known(words[0]):
            names = [lead.path for lead in leads(words[0], scene).paths[:CANDIDATES]]
        else:
            _take_all((TouchPath(word, Use.EITHER) for word in words[1:]), scene, found)
    before = tuple(found.concerns)
    for each in names:
        _take_all(actions_of(ProgramCall(name_of(each), words[1:], scene)), scene, found)
        if "/" in each:
            _take_all(
                (TouchPath(plain(each), Use.READ), *written_scripts.scripts_run(plain(each), scene)),
                scene,
                found,
            )
    if name is not None:
        _ship(name, words[1:], found, before)


def _ship(path: str, arguments: tuple[Word, ...], found: Finding, before: tuple[str, ...]) -> None:
    """Apply the shipped policy to a program by its name and options; `before` is its concern so far."""
    name = name_of(path)
    if read_only_options.says_of_itself(path, name, arguments):
        found.only_reads, found.concerns = True, list(before)
        return
    if read_only_options.is_elsewhere(path):
        found.concerns.append("it runs a program that is none of the system's")
    said = (
        shipped_policy.concern(name, arguments),
        read_only_options.concern(name, arguments) if found.only_reads else None,
    )
    found.concerns += filter(None, said)


def _take_all(given: Iterable[Action], scene: CommandContext, found: Finding) -> None:
    for deed in dict.fromkeys(given):
        _take(deed, scene, found)


def _take(deed: Action, scene: CommandContext, found: Finding) -> None:
    """Judge one action."""
    match deed:
        case TouchPath():
            at = replace(scene, is_swept=True) if deed.is_swept else scene
            found.floor += path_clauses.judge(deed, at)
            found.concerns += filter(None, [shipped_policy.concern_of(deed, at)])
        case RunCommand():
            _run(deed, scene, found)
        case RunShell():
            _shell(deed, scene, found)
        case RunCode():
            found.floor += one_liners.judge(deed.text, scene, lambda text: _is_refused(text, scene))
            found.concerns.append("it runs code of another language")
        case FloorVerdict():
            found.floor.append(deed.decision)
        case Concern():
            found.concerns.append(deed.clause)
        case OnlyReads():
            found.only_reads = True


def _run(run: RunCommand, scene: CommandContext, found: Finding) -> None:
    """Add the command that a command runs: one part, with the floor's decisions on each of its instances."""
    if not run.words:
        return
    if scene.depth >= DEPTH_LIMIT:
        found.floor.append(deny("F9", "It is nested too deeply to be read."))
        return
    inside = replace(
        scene,
        depth=scene.depth + 1,
        is_swept=scene.is_swept or run.is_swept,
        is_guess=scene.is_guess or run.is_guess,
        variables=(*scene.variables, *run.variables),
    )
    if run.cwd is not None:
        folder = run.cwd.value
        inside = replace(inside, cwd=None if folder is None else scene.world.absolute(folder, scene.here))
    if run.is_guess:
        _guess(
            [part for words in run.instances or (run.words,) for part in of_words(words, inside)],
            run.only,
            found,
        )
        return
    shown = replace(inside, is_swept=scene.is_swept)
    parts = [] if run.only else of_words(run.words, shown)
    instances = [part for words in run.instances for part in of_words(words, inside)]
    if instances and parts:
        parts[0] = _of_instances(parts[0], instances)
    more = [each for part in instances for each in part.floor]
    found.floor += [each for each in more if run.only is None or each.rule_id in run.only]
    found.inner += parts


def _of_instances(part: CallPart, instances: list[CallPart]) -> CallPart:
    """Return the part of a command with an unknown word, judged by the word's possible values."""
    return replace(
        part,
        floor=tuple(each for each in part.floor if not _is_of_unknown(each)),
        is_harmless=all(each.is_harmless for each in instances),
        concern=next((each.concern for each in instances if each.concern), None),
    )


def _is_of_unknown(decision: Decision) -> bool:
    """Tell whether a decision is only about an unknown word, which its instances make known."""
    return decision.effect is Effect.ASK and decision.rule_id == "F9"


def _guess(parts: list[CallPart], only: frozenset[str] | None, found: Finding) -> None:
    """Add commands that may be run: whatever the floor's decision, a person is asked."""
    for part in parts:
        for said in [each for each in part.floor if only is None or each.rule_id in only][:1]:
            found.floor.append(ask(said.rule_id, f"It may run `{part.target}`. {said.reason}"))


def _shell(shell: RunShell, scene: CommandContext, found: Finding) -> None:
    """Add a piece of shell that is run, as far as it is known."""
    text = "".join('"$_"' if isinstance(part, Unknown) else part.text for part in shell.text.parts)
    if not is_known(shell.text):
        found.floor.append(ask("F9", f"Only running it tells what `{shell.text.source}` runs."))
        if text == '"$_"':
            return
    parts, said = _read(text, scene)
    if shell.is_guess:
        _guess([*parts, CallPart(tool=TOOL, target=text, floor=tuple(said))], shell.only, found)
    else:
        found.floor += said
        found.inner += parts


def _read(text: str, scene: CommandContext) -> tuple[list[CallPart], list[Decision]]:
    if not scene.effort.spend(len(text) // WORD):
        return [], [_TOO_MUCH]
    variables = dict(inherited_environment.texts(scene))
    program = read_shell(text, scene.world, cwd=scene.cwd, depth=scene.depth + 1, variables=variables)
    if program.too_large:
        return [], [deny("F9", f"It is too much to be read: {program.too_large}.")]
    parts = of_program(program, scene.world, scene.effort, depth=scene.depth + 1, outer=scene)
    return list(parts), list(whole(program))


def _is_refused(text: str, scene: CommandContext) -> bool:
    """Tell whether the floor objects to a text, taken as a command."""
    parts, said = _read(text, scene)
    return bool(said) or any(part.floor for part in parts)


def _redirected(redirect: Redirect) -> Iterator[Action]:
    target = redirect.target
    if target is None or (redirect.operator in (">&", "<&") and _is_descriptor(target)):
        return
    if target.source.startswith(("<(", ">(")):
        return
    if redirect.writes:
        yield TouchPath(target, Use.WRITE, must_be_known=True)
    else:
        yield TouchPath(target, Use.READ)
    if target.known_start.startswith(("/dev/tcp/", "/dev/udp/")):
        yield Concern("it speaks to other machines")


def _is_plain(redirected: TouchPath, scene: CommandContext) -> bool:
    """Tell whether a redirection leaves a command what its words say: known, and writing only where agents work."""
    if not is_known(redirected.word):
        return False
    is_elsewhere = shipped_policy.concern_of(redirected, scene) == shipped_policy.OUTSIDE
    return redirected.use is not Use.WRITE or not is_elsewhere


def _is_descriptor(target: Word) -> bool:
    value = target.value or ""
    return value == "-" or value.removesuffix("-").isdigit()
