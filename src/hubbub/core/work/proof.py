"""Proof: a task counts as completed once its demands were seen to be met, not because its holder says so.

The demands are the task's contract: its own, else its project's. Hooks beside the agents' programs report what they
see of the work (`saw`). A caller that completes a task with unmet demands is told which. A person who speaks in
their own name may still complete or approve it, or waive the proof; the log says who did.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from uuid import UUID

from hubbub.core.people import access
from hubbub.core.work import artifacts, permissions, reviews
from hubbub.model.agents import path_patterns
from hubbub.model.errors import Forbidden, Invalid, Lacking
from hubbub.model.fleet.nodes import NODE_PREFIX
from hubbub.model.ids import new_id
from hubbub.model.lifecycle import HELD, Status
from hubbub.model.people.rights import HUB
from hubbub.model.records import Project, ReviewVerdict, Task
from hubbub.model.timestamps import milliseconds
from hubbub.model.visible_text import cut
from hubbub.model.work.permissions import Verb
from hubbub.model.work.proof import (
    LONGEST,
    MOST_DEMANDS,
    Contract,
    Deed,
    Demand,
    Finding,
    Known,
    ProofRules,
    Sighting,
    Tree,
    Unproven,
    Verdict,
    checked,
    judge,
    lacking,
    refusal,
    sentence,
    stored_command,
)
from hubbub.model.work.proof import last_looks as looks_at_last
from hubbub.store.tx import Tx
from hubbub.store.work import proof as rows
from hubbub.store.work import proof_signatures

KEEP = timedelta(days=90)
MOST_SEEN = 2_000  # newest sightings of one task that are judged
MOST_TEST_FILES = 100
OWN_DOOR = "hub"  # the tool set whose replies tell a task's demands


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A hook's report of one step of work. `took` is the command's time in milliseconds, `clock` the machine's time."""

    deed: Deed
    instance: str
    place: str
    client: str | None = None
    host: str | None = None
    worktree: str | None = None
    repository: str | None = None
    command: str | None = None
    code: int | None = None
    took: int | None = None
    clock: int | None = None
    paths: tuple[str, ...] = ()
    tree: Tree | None = None
    step: str | None = None
    machine_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Proof of a task: its demands, also in words, the finding on each, and the sightings of the work."""

    contract: Contract
    rules: ProofRules
    demands: Sequence[str]
    findings: Sequence[Finding]
    sightings: Sequence[Sighting]

    @property
    def is_proven(self) -> bool:
        """Tell whether it has demands, and all of them are met."""
        return bool(self.findings) and not lacking(self.findings)


def rules_of(tx: Tx, project_id: UUID) -> ProofRules:
    """Return the project's rules, for tasks that have none of their own."""
    return rows.rules(tx, project_id) or ProofRules()


def put_rules(tx: Tx, project: Project, new: ProofRules) -> ProofRules:
    """Set the demands of a project's tasks, those under way too. Records `project.proof`. Raises `Invalid`."""
    if len(new.test_files) > MOST_TEST_FILES:
        raise Invalid(f"test_files: at most {MOST_TEST_FILES} of them")
    files = tuple(dict.fromkeys(map(path_patterns.normalise, new.test_files)))
    tests = stored_command(new.tests) if new.tests else None
    fresh = replace(new, done_when=checked(new.done_when), test_files=files, tests=tests)
    rows.put_rules(tx, project.id, fresh)
    tx.record(
        "project.proof", project_id=project.id, detail={**asdict(fresh), "unproven": str(fresh.unproven)}
    )
    return fresh


def put_contract(tx: Tx, task: Task, done_when: Sequence[str] | None, *, by: str) -> Contract:
    """Set the demands of one task, None for the project's. Records `task.contract`.

    Raises `Forbidden` to the holder of the task, and to an agent that could take it, if it would ask for less than
    the project does; `Invalid`.
    """
    if by == task.assignee:
        raise Forbidden("an agent cannot change what its own task asks for")
    permissions.require(tx, task, Verb.APPROVE, by)
    demands = checked(done_when) if done_when is not None else None
    left = set(rules_of(tx, task.project_id).done_when) - set(demands or ()) if demands is not None else set()
    if left:
        access.require_person(
            tx, f"have a task ask for less than its project does ({', '.join(sorted(left))})"
        )
    contract = replace(_contract(tx, task), done_when=demands)
    rows.put_contract(tx, contract)
    detail = {"done_when": list(demands) if demands is not None else None}
    tx.record("task.contract", project_id=task.project_id, actor=by, task_id=task.id, detail=detail)
    return contract


def waive(tx: Tx, task: Task, *, by: str, reason: str) -> Contract:
    """Waive a task's demands, as a person. Records `task.waived`. Raises `Forbidden`."""
    access.require_person(tx, "let a task be completed without proof")
    if by != HUB:
        raise Forbidden("a person may waive proof in their own name only")
    return _waive(tx, task, reason)


def saw(tx: Tx, project: Project, agent: str, seen: Seen, *, asks: bool = False) -> bool:
    """Store a hook's sighting of an agent with a task; return whether the hook should look at the checkout, too.

    A hook that only `asks` reports again if so, with its findings; any other report is stored.
    """
    held = rows.under_way(tx, project.id, agent, HELD)
    looks = any(demands(tx, each) for each in held)
    if not held or (asks and looks):
        return looks
    began = tx.now - min(max(0, seen.took or 0), milliseconds(KEEP))
    rows.insert(
        tx,
        Sighting(
            id=new_id(),
            project_id=project.id,
            agent=agent,
            at=tx.now,
            began_at=began,
            deed=seen.deed,
            client=seen.client,
            host=seen.host,
            place=seen.place,
            worktree=seen.worktree,
            repository=seen.repository,
            command=stored_command(seen.command) if seen.command is not None else None,
            code=seen.code,
            paths=seen.paths,
            tree=seen.tree,
            skew=tx.now - seen.clock if seen.clock is not None else 0,
            step=seen.step,
            machine_key=seen.machine_key,
        ),
    )
    return looks


def demands(tx: Tx, task: Task) -> Sequence[str]:
    """Return the demands of a task: its own, else the project's. A machine's own work has only its own."""
    return _demands(tx, task, rows.contract(tx, task.id))


def _demands(tx: Tx, task: Task, contract: Contract | None) -> Sequence[str]:
    if contract is not None and contract.done_when is not None:
        return contract.done_when
    return () if (task.assignee or "").startswith(NODE_PREFIX) else rules_of(tx, task.project_id).done_when


def told(tx: Tx, task: Task) -> list[str]:
    """Return the demands of a task, in words for the agent that works on it."""
    wanted = demands(tx, task)
    rules = rules_of(tx, task.project_id) if wanted else ProofRules()
    return [sentence(each, rules) for each in wanted]


def of_task(tx: Tx, task: Task) -> Proof:
    """Return the proof of a task so far; of a completed one, as it was at its completion."""
    contract, rules = _contract(tx, task), rules_of(tx, task.project_id)
    wanted, seen = _demands(tx, task, contract), _seen(tx, task)
    if contract.found is not None and task.status is Status.COMPLETED:
        found = [Finding(each["demand"], Verdict(each["verdict"]), each["why"]) for each in contract.found]
    else:
        found = judge(wanted, rules, seen, _known(tx, task))
    return Proof(contract=contract, rules=rules, demands=wanted, findings=found, sightings=seen)


def last_looks(tx: Tx, task: Task) -> list[Sighting]:
    """Return the hooks' last look at each checkout that was changed for the task."""
    return looks_at_last(_seen(tx, task), _known(tx, task))


def settle(tx: Tx, task: Task, *, by: str) -> None:
    """Store the findings of a task that is about to be completed. Raises `Lacking` if a demand is not met.

    A person who speaks in their own name completes it all the same, which the log says.
    """
    wanted = demands(tx, task)
    if not wanted or task.is_ended:
        return
    found = judge(wanted, rules_of(tx, task.project_id), _seen(tx, task), _known(tx, task, by))
    missing, contract = lacking(found), _contract(tx, task)
    if missing and contract.waived_by is None:
        if not (tx.actor.is_person and by == HUB):
            raise Lacking(refusal(missing), [each.demand for each in missing])
        contract = _waive(tx, task, None, [each.demand for each in missing])
    kept = tuple(shown(each) for each in found)
    rows.put_contract(tx, replace(contract, found=kept, found_at=tx.now))


def tell_taker(tx: Tx, task: Task, *, before: Task) -> None:
    """Mail the demands to the agent that has just taken the task; the hub's own tools say them in their reply."""
    if tx.door == OWN_DOOR or task.assignee is None or before.accepted_at == task.accepted_at:
        return
    if asked := told(tx, task):
        permissions.say(
            tx, task, f"T-{task.number} is done when {'; '.join(asked)}", by=HUB, to=task.assignee
        )


def goes_to_review(tx: Tx, task: Task, missing: Lacking) -> bool:
    """Tell whether a task completed without proof goes to somebody else for review."""
    return task.status is not Status.IN_REVIEW and (
        is_review_alone(missing) or rules_of(tx, task.project_id).unproven is Unproven.REVIEW
    )


def is_review_alone(missing: Lacking) -> bool:
    """Tell whether a task lacks nothing but its review: then its completion asks for one."""
    return missing.demands == (Demand.REVIEW,)


def missing(tx: Tx, task: Task) -> str | None:
    """Return why a task that its holder has just completed is in review instead, in a sentence; None if it is not."""
    if task.status is not Status.IN_REVIEW:
        return None
    found = judge(demands(tx, task), rules_of(tx, task.project_id), _seen(tx, task), _known(tx, task))
    return f"the task is in review, and not done yet: {refusal(lacking(found))}"


def forget(tx: Tx) -> None:
    """Drop old sightings, and the statements on them."""
    rows.forget(tx, tx.now - milliseconds(KEEP))
    proof_signatures.forget(tx, tx.now - milliseconds(KEEP))


def shown(finding: Finding) -> Mapping[str, str]:
    """Return a finding as JSON."""
    return {"demand": finding.demand, "verdict": str(finding.verdict), "why": finding.why}


def _waive(tx: Tx, task: Task, reason: str | None, missing: Sequence[str] = ()) -> Contract:
    who, why = permissions.label(tx, HUB), cut(reason, LONGEST) if reason else None
    contract = replace(_contract(tx, task), waived_by=who, waived_why=why, waived_at=tx.now)
    rows.put_contract(tx, contract)
    detail = {"reason": why, "missing": list(missing)[:MOST_DEMANDS]}
    tx.record("task.waived", project_id=task.project_id, agent=task.assignee, task_id=task.id, detail=detail)
    return contract


def _contract(tx: Tx, task: Task) -> Contract:
    return rows.contract(tx, task.id) or Contract(task_id=task.id, project_id=task.project_id)


def _seen(tx: Tx, task: Task) -> list[Sighting]:
    """Return the sightings of the task's holder since they took it."""
    if task.assignee is None:
        return []
    until = task.ended_at if task.is_ended and task.ended_at is not None else tx.now
    return rows.seen(tx, task.project_id, task.assignee, since=taken_at(task), until=until, limit=MOST_SEEN)


def taken_at(task: Task) -> int:
    """Return when the holder took the task, else when it was delivered, else when it was created."""
    return task.accepted_at or task.delivered_at or task.created_at


def _known(tx: Tx, task: Task, by: str | None = None) -> Known:
    """Return the facts that the hub knows itself.

    Completion of a task in review by somebody other than its holder counts as a review.
    """
    since = taken_at(task)
    made = [each for each in artifacts.of_task(tx, task) if each.created_at >= since]
    asked = [review for each in made for review in reviews.of_artifact(tx, each)]
    approves = by is not None and by != task.assignee and task.status is Status.IN_REVIEW
    return Known(
        since=since,
        has_artifact=any(each.creator == task.assignee for each in made),
        is_reviewed=approves
        or any(each.verdict is ReviewVerdict.APPROVED and each.reviewer != task.assignee for each in asked),
    )
