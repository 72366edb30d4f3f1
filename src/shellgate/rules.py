"""Rules of a policy: `Tool(pattern)`, in either spelling. How they are written; `matching` says what they match.

    execute_command(git push *)     Bash(git push:*)        the words of one simple command
    read_file(src/**)               Read(./src/**)          a path
    download_file(build/*)          WebFetch(domain:x.org)  where it is saved, or where it comes from
    connect(exec:prod-*)                                    any other text that the tool's gate looks at
    list_dir                        LS                      every call of the tool

A rule about a tool that there is not, or with a pattern that could match nothing, is no rule.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto

LENGTH = 1024  # characters of one rule
DOMAIN = "domain:"
_RULE = re.compile(r"([A-Za-z_]+)(?:\((.*)\))?", re.DOTALL)


class InvalidRule(ValueError):
    """A text that is no rule; the message is one sentence."""


class PatternKind(Enum):
    """The kind of text that a rule's pattern is compared with."""

    WORDS = auto()  # the words of a simple command
    PATH = auto()
    HOST = auto()  # the host of a download
    TEXT = auto()  # the target as a whole: a host name, an operation with one, an id


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule."""

    source: str  # as written
    tool: str
    pattern: str | None  # None: every call of the tool
    kind: PatternKind = PatternKind.TEXT
    tools: frozenset[str] = frozenset()  # by their documented names: those it is about
    akin: frozenset[str] = frozenset()  # those it is about as well where it forbids, or asks
    is_foreign: bool = False  # in Claude Code's spelling, where `/x` is the root's and not the machine's


_FILES = ("read_file", "write_file", "open_file", "list_dir", "grep", "glob")
_OTHERS = (
    "shell_tasks",
    "shell_kill",
    "read_logs",
    "connect",
    "ssh_session",
    "ask_agent",
    "ask_agent_stream",
    "ask_agents",
    "issue_list",
    "issue_get",
    "issue_create",
    "issue_update",
    "issue_close",
    "todo_write",
    "skill_list",
    "skill_run",
    "delegate_task",
    "task_status",
    "permissions_helper",
    "agent_stop",
    "agent_logs",
)
KINDS = {
    "execute_command": PatternKind.WORDS,
    "agent_start": PatternKind.WORDS,
    "download_file": PatternKind.PATH,
    **dict.fromkeys(_FILES, PatternKind.PATH),
    **dict.fromkeys(_OTHERS, PatternKind.TEXT),
}
TOOLS = tuple(KINDS)  # every tool that a gate knows
_READING = frozenset({"read_file", "list_dir", "grep", "glob"})
_WRITING = frozenset({"write_file"})
_FOREIGN = {
    "Bash": frozenset({"execute_command"}),
    "Read": _READING,
    "Grep": frozenset({"grep"}),
    "Glob": frozenset({"glob"}),
    "LS": frozenset({"list_dir"}),
    "Edit": _WRITING,
    "MultiEdit": _WRITING,
    "Write": _WRITING,
    "WebFetch": frozenset({"download_file"}),
}
_AKIN = {
    **dict.fromkeys(("execute_command", "Bash"), frozenset({"agent_start"})),
    "Read": frozenset({"open_file"}),
    **dict.fromkeys(("Edit", "MultiEdit", "Write"), frozenset({"download_file"})),
}


def parse(source: str) -> Rule:
    """Parse a rule. Raises `InvalidRule`, which says what is wrong and what is allowed."""
    written = _RULE.fullmatch(source.strip()) if len(source) <= LENGTH else None
    if written is None:
        raise InvalidRule(
            f"the rule {source[:80]!r} must be a tool, or a tool and a pattern such as"
            f" execute_command(git push *), in at most {LENGTH} characters"
        )
    tool, pattern = written[1], written[2]
    if pattern is not None and not pattern.strip():
        raise InvalidRule(
            f"the rule {source!r} has an empty pattern; leave the brackets out to mean every call"
        )
    if tool in KINDS:
        kind, tools = KINDS[tool], frozenset({tool})
    elif tool in _FOREIGN:
        tools = _FOREIGN[tool]
        kind = KINDS[min(tools)]
    else:
        allowed = ", ".join((*TOOLS, *_FOREIGN))
        raise InvalidRule(f"the rule {source!r} is not about a known tool; known tools are: {allowed}")
    return _checked(
        Rule(
            source,
            tool,
            _plain(pattern, kind),
            kind=PatternKind.HOST if _is_host(tools, tool, pattern) else kind,
            tools=tools,
            akin=_AKIN.get(tool, frozenset()),
            is_foreign=tool in _FOREIGN,
        )
    )


def _plain(pattern: str | None, kind: PatternKind) -> str | None:
    """The pattern without blanks around it. `*` alone is every call, but of paths only those in the roots."""
    if pattern is None or (kind is not PatternKind.PATH and pattern.strip() in ("*", ":*")):
        return None
    return pattern.strip()


def _is_host(tools: frozenset[str], tool: str, pattern: str | None) -> bool:
    return "download_file" in tools and (tool == "WebFetch" or (pattern or "").startswith(DOMAIN))


def _checked(rule: Rule) -> Rule:
    """The rule, if its pattern can match anything. Raises `InvalidRule`."""
    if rule.kind is PatternKind.HOST and rule.pattern is not None and not rule.pattern[len(DOMAIN) :].strip():
        raise InvalidRule(f"the rule {rule.source!r} names no domain; write {rule.tool}(domain:example.org)")
    if rule.tool == "WebFetch" and rule.pattern is not None and not rule.pattern.startswith(DOMAIN):
        raise InvalidRule(f"the rule {rule.source!r} must name a domain: WebFetch(domain:example.org)")
    if any(not each.isprintable() for each in rule.source):
        raise InvalidRule(f"the rule {rule.source!r} has invisible characters")
    return rule
