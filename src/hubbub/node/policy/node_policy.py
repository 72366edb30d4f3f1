"""The policy of a machine's operator: `node.toml`, which fails closed.

Beside it may be `rules.toml`, with the rules that people approved when an agent asked for them: `node.toml` itself is
only ever written by a person. A fault in either makes the policy strict, and is reported.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

from hubbub.model.errors import Invalid
from hubbub.node.policy import rule_examples, toml_table
from hubbub.node.policy.approver_keys import public_key
from hubbub.node.policy.toml_table import TomlTable
from hubbub.processes import durable_files
from hubbub.processes.log import structlog
from shellgate.decision import Effect, Mode
from shellgate.policy import Policy as Rules
from shellgate.rules import InvalidRule, Rule, parse

log = structlog.get_logger("hubbub")

FILE = "node.toml"
APPROVED = "rules.toml"  # beside it
APPROVAL_TIMEOUT = timedelta(minutes=5)
LONGEST_APPROVAL = timedelta(hours=1)
LONGEST_FOREGROUND = timedelta(minutes=10)
EFFECTS = tuple(each.word for each in Effect)
HEADING = "# Rules that a person said yes to when an agent asked for them. Take out what shall not hold.\n"
RULE = "a list of rules: texts, or tables with rule, match and not_match"


@dataclass(frozen=True, slots=True)
class CommandRuntime:
    """A program as the machine's own agent."""

    command: tuple[str, ...]
    key: str | None = None  # the environment variable with its key, if the program wants one

    kind: ClassVar = "command"

    @property
    def name(self) -> str:
        return " ".join(self.command)


@dataclass(frozen=True, slots=True)
class OpenAIRuntime:
    """A model at an OpenAI-compatible endpoint as that agent."""

    url: str
    model: str
    key: str | None = None  # the environment variable with its key; without one the project's key is used

    kind: ClassVar = "openai"

    @property
    def name(self) -> str:
        return self.model


@dataclass(frozen=True, slots=True)
class AdaptedRuntime:
    """A known program as that agent: the machine knows how to run it, and reads its stream."""

    kind: str
    program: str | None = None  # its path; without it, the PATH is searched
    model: str | None = None  # in the program's own words; without it, the program chooses
    arguments: tuple[str, ...] = ()  # more arguments of its command
    key: str | None = None  # the environment variable with its key, if it wants one

    kinds: ClassVar = ("claude", "codex", "gemini", "opencode")

    @property
    def name(self) -> str:
        return f"{self.kind} {self.model}" if self.model else self.kind


Runtime = CommandRuntime | OpenAIRuntime | AdaptedRuntime


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Rules):
    """The present rules of a machine."""

    approval_timeout: timedelta = APPROVAL_TIMEOUT
    runtime: Runtime | None = None
    skills: tuple[Path, ...] = ()
    approvers: tuple[bytes, ...] = ()  # public keys, one of which has to sign a yes
    elicitation: bool = False  # whether the calling client may answer for a person
    background_after: timedelta | None = None
    network: bool = True  # whether commands in the sandbox reach it
    file: Path | None = None  # its present or future file; no agent may touch it, or the one beside it


def load(file: Path, cwd: Path, *, home: Path | None = None) -> Policy:
    """Load the policy of a file, and of the `rules.toml` beside it; paths in it begin at the file's folder.

    Without a file it is the default one, with `cwd` as the only root. Never raises: a faulty one is strict, with its
    `fault`.
    """
    start = Policy(roots=(cwd.resolve(),), home=str((home or Path.home()).resolve()), file=file)
    try:
        return _with_approved(_with_settings(start, file), file.with_name(APPROVED))
    except Invalid as error:
        return replace(start, mode=Mode.STRICT, fault=str(error))


def add(file: Path, rule: str, effect: Effect) -> None:
    """Add a rule that a person approved to `rules.toml`, beside those of the policy file.

    Raises `Invalid` if the rule is malformed, or the present file does not load.
    """
    rule_of(rule)
    target = file.with_name(APPROVED)
    _with_approved(Policy(), target)
    before = target.read_text("utf-8") if target.exists() else HEADING
    added = f"\n[[rule]]\neffect = {json.dumps(effect.word)}\nrule = {json.dumps(rule, ensure_ascii=False)}\n"
    if added in before:
        return
    durable_files.make_folder(target.parent, 0o700)
    durable_files.write(target, before + added)


def rule_of(source: str) -> Rule:
    """Parse a rule. Raises `Invalid` with a sentence on the allowed forms."""
    try:
        return parse(source)
    except InvalidRule as error:
        raise Invalid(str(error)) from None


class PolicyFile:
    """The policy of a file, read again after changes: a person's edit takes effect with the next call."""

    def __init__(self, file: Path, cwd: Path, *, home: Path | None = None) -> None:
        self._file, self._cwd, self._home = file, cwd, home
        self._seen: object = None
        self._policy: Policy | None = None

    def current(self) -> Policy:
        """Return the present policy. A fault is logged as an error, once for each change."""
        seen = (_look(self._file), _look(self._file.with_name(APPROVED)))
        if self._policy is None or seen != self._seen:
            self._seen, self._policy = seen, load(self._file, self._cwd, home=self._home)
            if self._policy.fault is not None:
                log.error("the policy does not load, so everything is denied", fault=self._policy.fault)
        return self._policy


def _look(file: Path) -> tuple[int, ...] | None:
    """Return a stamp that changes when the file does."""
    try:
        status = file.stat()
    except OSError as error:
        return (error.errno or 0,)
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def _with_settings(start: Policy, file: Path) -> Policy:
    table = toml_table.read(file)
    if table is None:
        return start
    folder, home = file.resolve().parent, Path(start.home)
    mode = table.one_of("mode", [*Mode])
    timeout = table.span("approval_timeout", most=LONGEST_APPROVAL)
    elicitation = table.switch("elicitation", default=False)
    rules, runtime = table.table("rules"), table.table("runtime")
    files, skills, commands = table.table("files"), table.table("skills"), table.table("commands")
    roots = _paths(files, "roots", folder, home)
    if files.has("roots") and not roots:
        raise files.wrong("roots", "a list of at least one folder")
    policy = replace(
        start,
        mode=Mode(mode or Mode.DEFAULT),
        approval_timeout=timeout or APPROVAL_TIMEOUT,
        approvers=tuple(map(public_key, table.texts("approvers"))),
        elicitation=elicitation,
        roots=roots or start.roots,
        runtime=_runtime(runtime, folder, home) if table.has("runtime") else None,
        skills=_paths(skills, "paths", folder, home),
        background_after=commands.span("background_after_ms", most=LONGEST_FOREGROUND, milliseconds=True),
        network=commands.switch("network", default=True),
    )
    for each in (files, skills, commands, table):
        each.finish()
    return _with_rules(policy, rules)


def _with_approved(policy: Policy, file: Path) -> Policy:
    """Return the policy with the approved rules added."""
    table = toml_table.read(file)
    if table is None:
        return policy
    found: dict[str, list[Rule]] = {each.word: [] for each in Effect}
    for each in table.tables("rule"):
        effect, source = each.one_of("effect", EFFECTS), each.text("rule")
        each.finish()
        if effect is None or source is None:
            raise each.wrong("rule" if effect else "effect", "given")
        found[effect].append(rule_of(source))
    table.finish()
    return _joined(policy, found)


def _with_rules(policy: Policy, table: TomlTable) -> Policy:
    """Return the policy with the rules of the table added."""
    found = {
        each.word: [_rule(table, each, item, policy) for item in table.items(each.word, RULE)]
        for each in Effect
    }
    table.finish()
    return _joined(policy, found)


def _joined(policy: Policy, found: Mapping[str, list[Rule]]) -> Policy:
    return replace(
        policy,
        deny=(*policy.deny, *found[Effect.DENY.word]),
        ask=(*policy.ask, *found[Effect.ASK.word]),
        allow=(*policy.allow, *found[Effect.ALLOW.word]),
    )


def _rule(table: TomlTable, effect: Effect, item: object, policy: Policy) -> Rule:
    if isinstance(item, str):
        return rule_of(item)
    if isinstance(item, dict):
        return _with_examples(table.inner(effect.word, item), effect, policy)
    raise table.wrong(effect.word, RULE)


def _with_examples(table: TomlTable, effect: Effect, policy: Policy) -> Rule:
    source = table.text("rule")
    if source is None:
        raise table.wrong("rule", "there, as a text")
    rule = rule_of(source)
    roots = tuple(map(str, policy.roots))
    for key, wanted in (("match", True), ("not_match", False)):
        for example in table.texts(key):
            if rule_examples.is_matched(rule, effect, example, home=policy.home, roots=roots) is not wanted:
                raise Invalid(
                    f"the rule {rule.source} {'does not match' if wanted else 'matches'} its example {example!r}"
                )
    table.finish()
    return rule


def _runtime(table: TomlTable, folder: Path, home: Path) -> Runtime:
    kinds = (CommandRuntime.kind, OpenAIRuntime.kind, *AdaptedRuntime.kinds)
    kind, command = table.one_of("kind", kinds), table.texts("command")
    url, model, key = table.text("url"), table.text("model"), table.text("key")
    program, arguments = table.text("program"), table.texts("arguments")
    table.finish()
    if kind is None:
        raise table.wrong("kind", f"one of {', '.join(kinds)}")
    if kind in AdaptedRuntime.kinds:
        return AdaptedRuntime(kind, _program(program, folder, home), model, arguments, key)
    if kind == CommandRuntime.kind:
        if not command:
            raise table.wrong("command", "a list of words, the first of them the program")
        return CommandRuntime(command, key)
    if url is None or model is None:
        raise table.wrong("url" if url is None else "model", "given for the kind openai")
    return OpenAIRuntime(url, model, key)


def _program(named: str | None, folder: Path, home: Path) -> str | None:
    """Return a program by name, or its path: like folders, but links stay, as programs are known by them."""
    if named is None or "/" not in named:
        return named
    return str(home / named[2:] if named.startswith("~/") else folder / named)


def _paths(table: TomlTable, key: str, folder: Path, home: Path) -> tuple[Path, ...]:
    """Return folders: `~` is the home, relative ones begin at the folder of the file; links are resolved."""
    found = []
    for each in table.texts(key):
        if "\0" in each:
            raise table.wrong(key, "a list of folders")
        path = home / each[2:] if each.startswith("~/") else home if each == "~" else folder / each
        found.append(path.resolve())
    return tuple(found)
