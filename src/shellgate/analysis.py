"""A call as the gate sees it: its effects, each with the floor's decisions on it."""

from dataclasses import dataclass, field

from shellgate.decision import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPart:
    """One effect of a call: a simple command of a program, or the whole effect of a file tool.

    Rules match `tool` and `target`; commands are matched by their resolved words, where None is a word that is known
    only when it runs.
    """

    tool: str
    target: str  # for people and for rules: the resolved words, a path, an address, a host
    alias: str | None = None  # the same by another name, for rules that deny or ask
    words: tuple[str | None, ...] = ()
    floor: tuple[Decision, ...] = ()  # the floor's denials and questions about it
    may_be_allowed: bool = True  # False: no allow rule matches, since it is not what it looks like
    is_harmless: bool = False  # the shipped policy lets it through without asking
    concern: str | None = None  # why the shipped policy asks, one clause: "it installs packages"
    paths: tuple[str, ...] = ()  # of a file: the absolute path as named, and where its links lead
    host: str | None = None  # of a download: the name of its server
    never_asks: bool = False  # it only reads the caller's own data: floor and deny rules apply, no question


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """All of a call."""

    parts: tuple[CallPart, ...] = ()
    floor: tuple[Decision, ...] = ()  # of the call as a whole: too large, or unreadable
    target: str = ""  # of the call as a whole, for the audit log and for people
    # Downloads: the checked address that the last connection would go to, and all those of the first connection. Names
    # of large sites lead elsewhere each minute; that does not make it another call.
    address: str | None = field(default=None, compare=False)
    addresses: tuple[str, ...] = field(default=(), compare=False)
