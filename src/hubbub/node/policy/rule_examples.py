"""Examples of a rule: calls that it must match, and calls that it must not, tried when the policy is loaded.

So a rule that differs from its author's intent is found before it lets anything through.
"""

import posixpath

from shellgate.analysis import CallPart
from shellgate.decision import Decision, Effect
from shellgate.filesystem import Disk
from shellgate.floor import downloads
from shellgate.matching import Base, Match, covers, touches
from shellgate.rules import PatternKind, Rule
from shellgate.world import World


def is_matched(rule: Rule, effect: Effect, example: str, *, home: str, roots: tuple[str, ...]) -> bool:
    """Tell whether the rule matches a call of its tool with `example`: a piece of shell, a path, an address, a host.

    An allow rule matches a piece of shell if it covers every simple command in it; any other rule if it matches one.
    """
    base = Base(home=home, roots=roots)
    parts = _parts(rule, example, home, roots)
    if effect is Effect.ALLOW:
        return bool(parts) and all(covers(rule, part, base) for part in parts)
    return any(touches(rule, part, base) is Match.YES for part in parts)


def _parts(rule: Rule, example: str, home: str, roots: tuple[str, ...]) -> tuple[CallPart, ...]:
    tool = min(rule.tools)
    match rule.kind:
        case PatternKind.WORDS:
            from shellgate.floor import (
                commands,
            )  # its parser is rarely needed when policies are loaded

            world = World(home=home, cwd=roots[0], roots=roots, own=(), files=Disk())
            return commands.read(example, world).parts
        case PatternKind.PATH:
            path = f"{home}/{example[2:]}" if example.startswith("~/") else example
            path = posixpath.normpath(posixpath.join(roots[0], path))
            return (CallPart(tool=tool, target=example, paths=(path,)),)
        case PatternKind.HOST:
            site = downloads.understood(example if "://" in example else f"https://{example}")
            host = None if isinstance(site, Decision) else site.host
            return (CallPart(tool=tool, target=example, paths=(roots[0],), host=host),)
        case PatternKind.TEXT:
            return (CallPart(tool=tool, target=example),)
