"""Proof: a task's demands before it counts as completed, the hooks' sightings of the work, and the verdicts.

Sightings are judged, never words. A demand is *met*, *missing*, or *not seen*: where no hook looked, nothing is known,
and that is no pass.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, auto
from typing import Annotated
from uuid import UUID

from hubbub.model.agents import path_patterns
from hubbub.model.errors import Invalid
from hubbub.model.fields import REST, Seen
from hubbub.model.redaction import Redactor
from hubbub.model.visible_text import cut

MOST_DEMANDS = 12
MOST_PATHS = 500  # of a look; with more, the look counts as not seen
MOST_MOVES = 60  # of the branch, newest last
MOST_COMMITS = 50
LONGEST = 1_000  # characters of a demand, and of a stored command
SHOWN = 3  # paths in a sentence
RAN, WITHIN, PUSHED_TO = "ran ", "within ", "pushed "
MOST_REMOTES = 50  # branches of remotes that hold the commit

_OWN = re.compile(r"commit\b")
_PICKED = re.compile(r".*rebase.*\((?:pick|squash|fixup|continue|reword|edit)\)")
_IN_WORDS = re.compile(r"\\{(\w+)\\}")
_SECRETS = Redactor()  # a command may contain some, and everybody who looks at the project reads it


class Demand(StrEnum):
    """A demand of one word. Three more carry a text of their own: `pushed BRANCH`, `ran COMMAND`, `within PATH …`."""

    CLEAN = "clean"
    COMMIT = "commit"
    PUSHED = "pushed"
    TESTS = "tests"
    TESTS_KEPT = "tests-kept"
    ARTIFACT = "artifact"
    REVIEW = "review"


MEANT: Mapping[str, str] = {
    Demand.CLEAN: "everything is committed",
    Demand.COMMIT: "a commit was made for it",
    Demand.PUSHED: "the commit is on the remote",
    Demand.TESTS: "the project's tests ran after the last change, and passed",
    Demand.TESTS_KEPT: "no file of the tests was changed",
    Demand.ARTIFACT: "an artifact was shared for it",
    Demand.REVIEW: "somebody else has approved it",
    "named-tests": "the tests, `{command}`, run by themselves after the last change, passed",
    "ran": "`{command}`, run by itself after the last change, passed",
    "within": "only {paths} was changed",
    "pushed-to": "the commit is on {branch}",
}


REASONS: Mapping[str, str] = {  # why a demand is not met; reasons about several paths come first
    "more_uncommitted": "{paths} and {more} more are not committed",
    "files_uncommitted": "{paths} are not committed",
    "file_uncommitted": "{paths} is not committed",
    "no_commit": "no commit that was made for it since it was taken is on the branch",
    "no_remote": "there is no remote that git here knows of",
    "unpushed": "no branch of a remote holds the last commit",
    "unpushed_to": "{branch} does not hold the last commit, as far as git here knows",
    "unnamed_tests": "the project does not say which command its tests are",
    "unnamed_test_files": "the project does not say which files its tests are",
    "no_run": "`{command}`, by itself and just so, was not seen to run",
    "old_run": "`{command}` has not run since the last change",
    "disturbed_run": "files were changed while `{command}` ran: run it once more, by itself",
    "unseen_end": "the client does not say how `{command}` ended",
    "failed_run": "`{command}` failed with exit status {code}",
    "much_changed": "too much was changed for a hook to tell",
    "more_changed": "{paths} and {more} more are changed",
    "files_changed": "{paths} are changed",
    "file_changed": "{paths} is changed",
    "no_artifact": "none was shared for it since it was taken",
    "unapproved": "nobody else has approved it yet",
    "no_work": "no hook saw any work on it",
    "no_look": "no hook saw how the checkout is now",
}


UNSEEN = "where no hooks run, only a person completes it"  # after a refusal: what to do there

_REASONS = {
    key: re.compile(_IN_WORDS.sub(r"(?P<\1>.+)", re.escape(words)), re.DOTALL)
    for key, words in REASONS.items()
}


class Verdict(StrEnum):
    """The state of a demand."""

    MET = auto()
    MISSING = auto()
    NOT_SEEN = "not seen"


class Unproven(StrEnum):
    """The consequence when a holder completes a task without proof."""

    REFUSE = auto()
    REVIEW = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofRules:
    """A project's demands for tasks without their own, and the meaning of its tests."""

    done_when: Annotated[tuple[str, ...], Seen(REST, "the demands of tasks without their own")] = ()
    tests: Annotated[str | None, Seen(REST, "the command that runs the tests")] = None
    test_files: Annotated[tuple[str, ...], Seen(REST, "paths and patterns of the tests' files")] = ()
    unproven: Annotated[Unproven, Seen(REST, "the fate of a task completed without proof")] = Unproven.REFUSE


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """Demands of one task, the waiver of them, and the findings at its completion."""

    task_id: UUID
    project_id: UUID
    done_when: Annotated[tuple[str, ...] | None, Seen(REST, "null: the project's demands")] = None
    waived_by: Annotated[str | None, Seen(REST, "the person who waived the proof")] = None
    waived_why: Annotated[str | None, Seen(REST)] = None
    waived_at: Annotated[int | None, Seen(REST)] = None
    found: tuple[Mapping[str, str], ...] | None = None  # at its completion
    found_at: Annotated[int | None, Seen(REST, "the time of its completion")] = None


class Deed(StrEnum):
    """The reason why a hook was called."""

    SHELL = auto()
    EDIT = auto()
    LOOK = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A checkout as a hook found it; every name in it is git's.

    `moves` are the last moves of the branch, as `[commit, Unix seconds, git's word]`; `commits` its last commits, as
    `[commit, tree, [path, …]]`.
    """

    tree: str  # of all files that are not ignored, committed or not
    head: str | None
    head_tree: str | None
    branch: str | None
    pushed: bool | None  # whether a branch of a remote holds the commit, as far as the local git knows
    dirty: Sequence[str]
    is_cut: bool = False  # there are more paths than were reported
    remotes: Sequence[str] = ()  # the branches of remotes that hold the commit, such as `origin/main`
    moves: Sequence[tuple[str, int, str]] = ()
    commits: Sequence[tuple[str, str, Sequence[str]]] = ()

    def __post_init__(self) -> None:
        for name in ("dirty", "moves", "commits", "remotes"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))


def _frozen(value: object) -> object:
    """Turn lists from JSON into tuples, so that values compare equal before and after storing."""
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One step of work that a hook saw: a command, an edit, or a look alone."""

    id: UUID
    project_id: UUID
    agent: Annotated[str, Seen(REST)]
    at: Annotated[int, Seen(REST)]
    began_at: Annotated[int, Seen(REST, "known only if the client says how long it took")]
    deed: Annotated[Deed, Seen(REST)]
    client: Annotated[str | None, Seen(REST)]
    host: Annotated[str | None, Seen(REST)]
    place: str  # one for each checkout of each machine
    worktree: Annotated[str | None, Seen(REST, "the folder, as people call it")]
    repository: Annotated[str | None, Seen(REST)]
    command: Annotated[str | None, Seen(REST, "without secrets")]
    code: Annotated[int | None, Seen(REST, "its exit status; null: not seen")]
    paths: Annotated[tuple[str, ...], Seen(REST, "the edited paths")] = ()
    tree: Tree | None = None
    skew: int = 0  # milliseconds by which the machine's clock is behind the hub's
    step: str | None = None  # its name on the machine
    machine_key: str | None = None  # the key of that machine, which keeps a record of its own


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one demand, and why."""

    demand: str
    verdict: Verdict
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Facts about a task that the hub knows itself."""

    since: int  # its holder took it
    has_artifact: bool
    is_reviewed: bool


def checked(demands: Iterable[str]) -> tuple[str, ...]:
    """Return the demands in their stored form, each once. Raises `Invalid`."""
    found = tuple(dict.fromkeys(_checked(each.strip()) for each in demands))
    if len(found) > MOST_DEMANDS:
        raise Invalid(f"done_when: at most {MOST_DEMANDS} of them")
    return found


def _checked(demand: str) -> str:
    if len(demand) > LONGEST:
        raise Invalid(f"done_when: each has at most {LONGEST} characters")
    if demand.startswith(WITHIN):
        return WITHIN + " ".join(path_patterns.normalise(each) for each in demand[len(WITHIN) :].split())
    if demand.startswith(PUSHED_TO) and len(demand.split()) == 2:
        return " ".join(demand.split())
    if demand not in [*Demand] and not demand.startswith(RAN):
        more = "`pushed BRANCH`, such as `pushed origin/main`, `ran COMMAND` or `within PATH …`"
        raise Invalid(f"done_when: each is one of {', '.join(Demand)}, {more}")
    return demand


def meaning(demand: str, rules: ProofRules) -> tuple[str, Mapping[str, str]]:
    """Return the meaning of a demand: the key of its words in `MEANT`, and the values for them."""
    if demand.startswith(RAN):
        return "ran", {"command": demand[len(RAN) :]}
    if demand.startswith(WITHIN):
        return "within", {"paths": demand[len(WITHIN) :]}
    if demand.startswith(PUSHED_TO):
        return "pushed-to", {"branch": demand[len(PUSHED_TO) :]}
    if demand == Demand.TESTS and rules.tests:
        return "named-tests", {"command": rules.tests}
    return demand, {}


def sentence(demand: str, rules: ProofRules) -> str:
    """Return the meaning of a demand, for the agent that works on the task."""
    key, values = meaning(demand, rules)
    return MEANT[key].format(**values)


def reason(why: str) -> tuple[str, Mapping[str, str]] | None:
    """Find a reason by its sentence, which is stored: the key of its words in `REASONS`, and their values."""
    for key, pattern in _REASONS.items():
        if found := pattern.fullmatch(why):
            return key, found.groupdict()
    return None


def _because(key: str, **values: object) -> str:
    return REASONS[key].format(**values)


def judge(
    demands: Iterable[str], rules: ProofRules, sightings: Sequence[Sighting], known: Known
) -> list[Finding]:
    """Judge each demand by the sightings since the task was taken, oldest first."""
    evidence = _Evidence(rules, [each for each in sightings if each.at >= known.since], known)
    return [Finding(each, *evidence.of(each)) for each in demands]


def last_looks(sightings: Sequence[Sighting], known: Known) -> list[Sighting]:
    """Return the last step seen in each checkout that is judged, where a hook looked at it then."""
    evidence = _Evidence(ProofRules(), [each for each in sightings if each.at >= known.since], known)
    return [each.seen[-1] for each in evidence.checkouts if each.last is not None]


_Found = tuple[Verdict, str]


@dataclass
class _Checkout:
    """Sightings of one checkout."""

    seen: list[Sighting]
    since: int
    last: Tree | None = field(init=False)
    own: list[tuple[str, str, Sequence[str]]] = field(
        init=False
    )  # the commits made for the task that it still holds

    def __post_init__(self) -> None:
        self.last = self.seen[-1].tree
        made = self._made()
        self.own = [each for each in self.last.commits if each[0] in made and each[2]] if self.last else []

    def _made(self) -> set[str]:
        """Return the commits made here in the task's time, and those that a rebase has made of them."""
        made: set[str] = set()
        for commit, seconds, deed in self.last.moves if self.last else ():
            if (seconds + 1) * 1000 + self.seen[-1].skew <= self.since:
                continue
            if _OWN.match(deed) or (made and _PICKED.match(deed)):
                made.add(commit)
        return made

    @property
    def is_changed(self) -> bool:
        trees = {each.tree.tree for each in self.seen if each.tree is not None}
        return (
            len(trees) > 1
            or any(each.deed is Deed.EDIT for each in self.seen)
            or bool(self.own or self.dirty)
        )

    @property
    def dirty(self) -> Sequence[str]:
        return self.last.dirty if self.last is not None else ()

    @property
    def changed(self) -> set[str] | None:
        """Return the files that were changed for the task; None if not all of that was seen."""
        last = self.last
        if last is None or last.is_cut:
            return None
        oldest = last.moves[0][1] * 1000 + self.seen[-1].skew if last.moves else 0
        lost = self._made() - {each[0] for each in last.commits}
        if (len(last.moves) >= MOST_MOVES and oldest >= self.since) or (
            lost and len(last.commits) >= MOST_COMMITS
        ):
            return None
        return {*last.dirty, *(path for each in self.own for path in each[2])}

    def runs(self, command: str) -> list[Sighting]:
        return [
            each for each in self.seen if each.command is not None and _bare(each.command) == _bare(command)
        ]

    def is_alone(self, run: Sighting) -> bool:
        """Tell whether nothing was changed between the start and the end of a command."""
        before = [each for each in self.seen if each.at <= run.began_at and each is not run]
        during = [each for each in self.seen if run.began_at < each.at <= run.at and each is not run]
        tree = run.tree.tree if run.tree is not None else None
        return all(each.tree is not None and each.tree.tree == tree for each in [*before[-1:], *during])


def _bare(command: str) -> str:
    """Return the command without what changes neither its work nor its exit status."""
    return command.strip().removesuffix("2>&1").rstrip()


_KNOWN: Mapping[str, tuple[Callable[[Known], bool], str]] = {
    Demand.ARTIFACT: (lambda known: known.has_artifact, _because("no_artifact")),
    Demand.REVIEW: (lambda known: known.is_reviewed, _because("unapproved")),
}


class _Evidence:
    """Sightings since the task was taken, by checkout: the changed ones, or all if none was changed."""

    def __init__(self, rules: ProofRules, seen: Sequence[Sighting], known: Known) -> None:
        self.rules, self.known = rules, known
        by_place: dict[str, list[Sighting]] = {}
        for each in seen:
            if each.place:
                by_place.setdefault(each.place, []).append(each)
        found = [_Checkout(each, known.since) for each in by_place.values()]
        self.changed = [each for each in found if each.is_changed]
        self.checkouts = self.changed or found

    def of(self, demand: str) -> _Found:
        if demand in _KNOWN:
            has, why = _KNOWN[demand]
            return self._said(has(self.known), why)
        if not self.checkouts:
            return Verdict.NOT_SEEN, _because("no_work")
        if any(each.last is None for each in self.checkouts):
            return Verdict.NOT_SEEN, _because("no_look")
        return self._seen(demand)

    def _seen(self, demand: str) -> _Found:
        if demand.startswith(RAN):
            return self._ran(demand[len(RAN) :])
        if demand.startswith(WITHIN):
            return self._within(demand[len(WITHIN) :].split())
        if demand.startswith(PUSHED_TO):
            return self._pushed(demand[len(PUSHED_TO) :])
        judges = {
            Demand.CLEAN: self._clean, Demand.COMMIT: self._committed, Demand.PUSHED: self._pushed,
            Demand.TESTS: self._tests, Demand.TESTS_KEPT: self._kept,
        }  # fmt: skip
        return judges[Demand(demand)]()

    def _clean(self) -> _Found:
        dirty = [path for each in self.checkouts for path in each.dirty]
        return self._said(not dirty, _of_paths("uncommitted", dirty))

    def _committed(self) -> _Found:
        made = bool(self.changed) and all(each.own for each in self.changed)
        return self._said(made, _because("no_commit"))

    @staticmethod
    def _said(is_met: bool, why: str) -> _Found:
        return (Verdict.MET, "") if is_met else (Verdict.MISSING, why)

    def _pushed(self, branch: str | None = None) -> _Found:
        told = [each.last for each in self.checkouts if each.last is not None]
        if any(each.pushed is None for each in told):
            return Verdict.NOT_SEEN, _because("no_remote")
        if branch is None:
            return self._said(all(each.pushed for each in told), _because("unpushed"))
        return self._said(
            all(branch in each.remotes for each in told), _because("unpushed_to", branch=branch)
        )

    def _tests(self) -> _Found:
        if self.rules.tests is None:
            return Verdict.NOT_SEEN, _because("unnamed_tests")
        return self._ran(self.rules.tests)

    def _ran(self, command: str) -> _Found:
        found = [self._ran_in(each, command) for each in self.checkouts]
        return next((each for each in found if each[0] is not Verdict.MET), found[0])

    def _ran_in(self, checkout: _Checkout, command: str) -> _Found:
        runs, last = checkout.runs(command), checkout.last
        if not runs:
            return Verdict.MISSING, _because("no_run", command=command)
        of_now = [
            each
            for each in runs
            if each.tree is not None and last is not None and each.tree.tree == last.tree
        ]
        if not of_now:
            return Verdict.MISSING, _because("old_run", command=command)
        run = of_now[-1]
        if not checkout.is_alone(run):
            return Verdict.MISSING, _because("disturbed_run", command=command)
        if run.code is None:
            return Verdict.NOT_SEEN, _because("unseen_end", command=command)
        return self._said(run.code == 0, _because("failed_run", command=command, code=run.code))

    def _kept(self) -> _Found:
        if not self.rules.test_files:
            return Verdict.NOT_SEEN, _because("unnamed_test_files")
        return self._compare(self.rules.test_files, are_allowed=False)

    def _within(self, entries: Sequence[str]) -> _Found:
        return self._compare(entries, are_allowed=True)

    def _compare(self, entries: Sequence[str], *, are_allowed: bool) -> _Found:
        wrong: list[str] = []
        for checkout in self.checkouts:
            changed = checkout.changed
            if changed is None:
                return Verdict.NOT_SEEN, _because("much_changed")
            wrong += [
                path
                for path in sorted(changed)
                if any(path_patterns.matches(each, path) for each in entries) != are_allowed
            ]
        return self._said(not wrong, _of_paths("changed", wrong))


def _of_paths(key: str, paths: Sequence[str]) -> str:
    number = "more" if len(paths) > SHOWN else "file" if len(paths) == 1 else "files"
    return _because(f"{number}_{key}", paths=", ".join(paths[:SHOWN]), more=len(paths) - SHOWN)


def stored_command(text: str) -> str:
    """Return a command in its stored and compared form: as given, without secrets."""
    return cut(_SECRETS.text(text[: 4 * LONGEST].strip()), LONGEST)


def lacking(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that are not met."""
    return [each for each in findings if each.verdict is not Verdict.MET]


def refusal(findings: Sequence[Finding]) -> str:
    """Say why a task does not count as completed yet, and what to do about it."""
    said = [f"{each.demand} ({each.verdict}): {each.why}" for each in findings]
    unseen = any(each.why == REASONS["no_work"] for each in findings)
    return "; ".join([*said, UNSEEN] if unseen else said)
