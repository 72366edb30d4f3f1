"""Proof: tasks' demands before they count as completed, hooks' sightings of the work, and unmet demands."""

from typing import Annotated, Any

from pydantic import Field

from hubbub.core.log.idempotency import Reply
from hubbub.core.people import access
from hubbub.core.why.proof import meant, reason
from hubbub.core.work import proof
from hubbub.core.work.proof import Proof, Seen
from hubbub.model.people.rights import Right
from hubbub.model.work.proof import (
    LONGEST,
    MOST_COMMITS,
    MOST_DEMANDS,
    MOST_MOVES,
    MOST_PATHS,
    MOST_REMOTES,
    Contract,
    Deed,
    ProofRules,
    Sighting,
    Tree,
    Unproven,
    Verdict,
    sentence,
)
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Body, Line, Model, Name, Shape, tells
from hubbub.store.tx import Tx

router = Router("proof")

MOST_EDITED = 200  # files of one edit
LONGEST_COMMAND = 4_000
WEEK = 7 * 24 * 3600 * 1000

Demand = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Demands = Annotated[
    list[Demand],
    Field(
        max_length=MOST_DEMANDS,
        description="of `clean`, `commit`, `pushed`, `tests`, `tests-kept`, `artifact`, `review`, `pushed BRANCH`, "
        "`ran COMMAND`, `within PATH …`",
    ),
]
Oid = Annotated[str, Field(pattern=r"^[0-9a-f]{40,64}$")]
Path = Annotated[str, Field(max_length=1_024)]


@tells(ProofRules)
class ProofRulesShape(Shape):
    pass


@tells(Contract)
class ContractShape(Shape):
    pass


@tells(Sighting)
class SightingShape(Shape):
    tree: str | None = Field(None, description="git's name of all that was there then, committed or not")
    head: str | None = Field(None, description="the commit that was checked out")


class FindingShape(Model):
    demand: str
    means: str
    words: dict[str, Any] = Field(description="`means` by the `key` of its words and their `values`")
    verdict: Verdict
    why: str = Field(description="why it is not met; empty where it is")
    reason: dict[str, Any] | None = Field(description="`why` by the `key` of its words and their `values`")


class OneProofRules(Model):
    rules: ProofRulesShape


class TaskProof(Model):
    """Demands of a task and the sightings; of a completed one, as they were at its completion."""

    contract: ContractShape
    done_when: list[str]
    findings: list[FindingShape]
    is_proven: bool
    claim: str | None = Field(description="what its holder says came of it")
    sightings: list[SightingShape]


class OneContract(Model):
    contract: ContractShape


class PutRules(Body):
    done_when: Demands = Field(default_factory=list)
    tests: Line | None = None
    test_files: list[Path] = Field([], max_length=100)
    unproven: Unproven = Unproven.REFUSE


class PutContract(Body):
    done_when: Demands | None = Field(None, description="null: what the project asks for")
    by: Name | None = None


class Waiving(Body):
    reason: Line


class TreeBody(Body):
    tree: Oid
    head: Oid | None = None
    head_tree: Oid | None = None
    branch: Line | None = None
    pushed: bool | None = None
    remotes: list[Path] = Field([], max_length=MOST_REMOTES)
    dirty: list[Path] = Field([], max_length=MOST_PATHS)
    is_cut: bool = False
    moves: list[tuple[Oid, Annotated[int, Field(ge=0, le=2**40)], Annotated[str, Field(max_length=100)]]] = (
        Field([], max_length=MOST_MOVES)
    )
    commits: list[tuple[Oid, Oid, Annotated[list[Path], Field(max_length=4 * MOST_PATHS)]]] = Field(
        [], max_length=MOST_COMMITS
    )


class Step(Body):
    deed: Deed
    instance: Name
    place: Annotated[str, Field(max_length=64)] = ""
    agent: Name | None = None
    asks: bool = Field(False, description="ask only whether to look at the checkout, if that is so")
    client: Line | None = None
    clock: Annotated[int | None, Field(ge=0, le=2**53)] = None
    code: Annotated[int | None, Field(ge=-(2**31), le=2**31)] = None
    command: Annotated[str | None, Field(max_length=LONGEST_COMMAND)] = None
    host: Line | None = None
    paths: list[Path] = Field([], max_length=MOST_EDITED)
    repository: Line | None = None
    step: Name | None = None
    machine_key: Name | None = None
    took: Annotated[int | None, Field(ge=0, le=WEEK)] = None
    tree: TreeBody | None = None
    worktree: Line | None = None

    def seen(self) -> Seen:
        facts = {
            name: value
            for name, value in dict(self).items()
            if name not in ("agent", "asks", "tree", "paths")
        }
        tree = Tree(**dict(self.tree)) if self.tree is not None else None
        return Seen(**facts, tree=tree, paths=tuple(self.paths))


class Looks(Model):
    looks: bool = Field(
        description="a task of the agent asks for proof, so the hook is to look at the checkout"
    )


@router.post("/sightings")
async def tell_sighting(call: Call, body: Step) -> Looks:
    """Report a command or an edit, for hooks; kept while the agent has a task."""

    def keep(tx: Tx) -> Looks:
        project = call.enter(tx)
        agent = access.speak(tx, project.id, body.agent)
        return Looks(looks=proof.saw(tx, project, agent, body.seen(), asks=body.asks))

    return await call.write(keep)


@router.get("/tasks/{ref}/proof")
async def show_proof(call: Call, ref: str) -> TaskProof:
    """Show a task's demands, the finding on each, and the sightings of the work, oldest first."""

    def look(tx: Tx) -> TaskProof:
        task = call.task(tx, ref, Right.READ)
        return _shape(proof.of_task(tx, task), task.result)

    return await call.read(look)


@router.put("/tasks/{ref}/done-when", response_model=OneContract)
async def put_contract(call: Call, ref: str, body: PutContract) -> Reply:
    """Set the demands of a task before it counts as completed. Not for its holder."""

    def put(tx: Tx) -> OneContract:
        task = call.task(tx, ref)
        by = access.speak(tx, task.project_id, body.by)
        made = proof.put_contract(tx, task, body.done_when, by=by)
        return OneContract(contract=ContractShape.of(made))

    return await call.create(put)


@router.post("/tasks/{ref}/waive", response_model=OneContract)
async def waive_proof(call: Call, ref: str, body: Waiving) -> Reply:
    """Let a task be completed without meeting its demands, for a `reason`. For people."""

    def waive(tx: Tx) -> OneContract:
        task = call.task(tx, ref)
        made = proof.waive(tx, task, by=access.speak(tx, task.project_id), reason=body.reason)
        return OneContract(contract=ContractShape.of(made))

    return await call.create(waive)


@router.get("/projects/{slug}/proof")
async def show_rules(call: Call, slug: str) -> OneProofRules:
    """Show the project's demands for tasks that have none of their own."""
    found = await call.read(lambda tx: proof.rules_of(tx, access.enter(tx, slug, Right.READ).id))
    return OneProofRules(rules=ProofRulesShape.of(found))


@router.put("/projects/{slug}/proof", response_model=OneProofRules)
async def put_rules(call: Call, slug: str, body: PutRules) -> Reply:
    """Set the demands of the project's tasks without their own, and its tests. For those who manage it."""

    def put(tx: Tx) -> OneProofRules:
        project = access.enter(tx, slug, Right.MANAGE)
        new = ProofRules(
            done_when=tuple(body.done_when),
            tests=body.tests,
            test_files=tuple(body.test_files),
            unproven=body.unproven,
        )
        return OneProofRules(rules=ProofRulesShape.of(proof.put_rules(tx, project, new)))

    return await call.create(put)


def _shape(found: Proof, claim: str | None) -> TaskProof:
    return TaskProof(
        contract=ContractShape.of(found.contract),
        done_when=list(found.demands),
        findings=[
            FindingShape(
                demand=each.demand,
                means=sentence(each.demand, found.rules),
                words=meant(each.demand, found.rules).shape(),
                verdict=each.verdict,
                why=each.why,
                reason=because.shape() if (because := reason(each)) is not None else None,
            )
            for each in found.findings
        ],
        is_proven=found.is_proven,
        claim=claim,
        sightings=[_sighting(each) for each in found.sightings],
    )


def _sighting(each: Sighting) -> SightingShape:
    tree = each.tree
    return SightingShape.of(
        each, tree=tree.tree if tree is not None else None, head=tree.head if tree is not None else None
    )
