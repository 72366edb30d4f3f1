"""Skills: their places, which of two with one name counts, and which of them a person has seen.

A project's skills are strangers' code: the gate asks before the first use of one, and again after a change. A used
skill is remembered by its hash.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from hubbub.model.fleet.calls import NodeCall
from hubbub.node.policy.node_policy import Policy
from hubbub.node.policy.seen_hashes import SeenHashes
from hubbub.node.skills import skill_file
from hubbub.node.skills.skill_file import Skill, SkillOrigin, UnusableSkill
from hubbub.processes.log import structlog
from shellgate.decision import Decision, Effect, Source
from shellgate.world import World

log = structlog.get_logger("hubbub")

TOOL = "skill_run"
SEEN = "sha256"  # the argument by which the gate ties a call to the very skill that it has seen
PINS = "skills.json"
RULE = "skill"
MOST = 100  # folders that are searched in one place

BUILTIN = Path(__file__).parent / "builtin"
OF_PROJECT = (".claude/skills", ".agents/skills", "skills")  # beneath each root
OF_USER = (".claude/skills", ".agents/skills", ".config/hubbub/skills")  # beneath the home


class SkillRegistry:
    """The skills of a machine, as one call finds them."""

    def __init__(self, world: World, policy: Policy, data: Path) -> None:
        self._world, self._seen = world, SeenHashes(data / PINS)
        self._configured = policy.skills

    def skills(self) -> list[Skill]:
        """Return all usable skills. Of two with the same name the hub's counts, then the person's."""
        found: dict[str, Skill] = {}
        for origin, base, beneath in self._folders():
            for each in _skills_in(base, beneath, origin):
                first = found.setdefault(each.name.casefold(), each)
                if first.folder != each.folder:
                    log.info(
                        "a skill is hidden by another of its name", skill=each.name, folder=str(each.folder)
                    )
        return list(found.values())

    def find(self, name: str) -> Skill | None:
        return next((each for each in self.skills() if each.name.casefold() == name.casefold()), None)

    def examined(self, order: NodeCall) -> tuple[NodeCall, tuple[Decision, ...]]:
        """Return an order as the gate has to see it, and the additional doubts about it.

        An order to run a project's skill is tied to the skill's present content: a yes applies to that content alone,
        not to a replacement.
        """
        if order.tool != TOOL:
            return order, ()
        arguments = {name: value for name, value in order.arguments.items() if name != SEEN}
        found = self.find(str(arguments.get("name")))
        digest = _digest(found) if found is not None and found.origin is SkillOrigin.PROJECT else None
        if found is None or digest is None:
            return replace(order, arguments=arguments), ()
        arguments[SEEN] = digest
        return replace(order, arguments=arguments), self._doubts(found, digest)

    def is_seen(self, found: Skill, order: NodeCall) -> bool:
        """Tell whether the gate let this very skill through with this order, or need not check it."""
        if found.origin is not SkillOrigin.PROJECT:
            return True
        digest = _digest(found)
        return digest is not None and order.arguments.get(SEEN) == digest

    def pin(self, found: Skill, order: NodeCall) -> None:
        """Remember the use of the skill, so that only a changed one is asked about again."""
        digest = order.arguments.get(SEEN)
        if found.origin is SkillOrigin.PROJECT and self._seen.digest(str(found.folder)) != digest:
            self._seen.add({str(found.folder): str(digest)})

    def _doubts(self, found: Skill, digest: str) -> tuple[Decision, ...]:
        pinned = self._seen.digest(str(found.folder))
        if pinned == digest:
            return ()
        why = (
            "has changed since it was last used"
            if pinned
            else "comes with the project and was never used here"
        )
        return (Decision(Effect.ASK, Source.FLOOR, RULE, f"the skill {found.name!r} {why}"),)

    def _folders(self) -> Iterator[tuple[SkillOrigin, Path, str]]:
        """Yield the places in order of precedence: a folder, and the path beneath it on which no link is followed.

        A folder that agents write to is the project's, whoever named it.
        """
        yield SkillOrigin.HUB, BUILTIN, ""
        for folder in [*self._configured, *(Path(self._world.home) / each for each in OF_USER)]:
            yield SkillOrigin.PROJECT if self._is_in_root(folder) else SkillOrigin.USER, folder, ""
        for root in self._world.roots:
            for beneath in OF_PROJECT:
                yield SkillOrigin.PROJECT, Path(root), beneath

    def _is_in_root(self, folder: Path) -> bool:
        resolved = Path(self._world.files.resolve(str(folder)))
        return any(resolved.is_relative_to(root) for root in self._world.roots)


def _skills_in(base: Path, beneath: str, origin: SkillOrigin) -> Iterator[Skill]:
    """Yield the skills of a folder, by name; unusable ones, and links, are left out and logged."""
    with ExitStack() as opened:
        parent = _open(base, None, opened)
        for part in Path(beneath).parts:
            parent = None if parent is None else _open(part, parent, opened)
        names = os.listdir(parent) if parent is not None else []  # noqa: PTH208  # of a folder that is open
        for name in sorted(names)[:MOST]:
            folder = base / beneath / name
            with ExitStack() as briefly:
                descriptor = _open(name, parent, briefly)
                if descriptor is None:
                    continue
                try:
                    yield skill_file.read(folder, descriptor, origin)
                except FileNotFoundError:
                    continue
                except UnusableSkill as error:
                    log.info("a skill is left out", folder=str(folder), reason=str(error))


def _open(path: str | Path, folder: int | None, opened: ExitStack) -> int | None:
    """Open a folder until `opened` is closed; None if there is none, or a link in its place."""
    follow = os.O_NOFOLLOW if folder is not None else 0
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | follow, dir_fd=folder)
    except OSError:
        return None
    opened.callback(os.close, descriptor)
    return descriptor


def _digest(found: Skill) -> str | None:
    try:
        return found.digest()
    except (UnusableSkill, OSError):
        return None
