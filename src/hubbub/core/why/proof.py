"""Why a task does not count as completed yet: its demands without proof, and who waived them."""

from collections.abc import Iterator

from hubbub.core.why.explanation import NOTHING, Fact, Phrase, named, quoted, say
from hubbub.core.work import proof
from hubbub.model.lifecycle import Status
from hubbub.model.records import Task
from hubbub.model.work.proof import Contract, Finding, ProofRules, lacking, meaning
from hubbub.model.work.proof import reason as reason_of
from hubbub.store.tx import Tx

LENGTH = 200  # of a command, and of a hook's report


def of_task(tx: Tx, task: Task) -> Iterator[Fact]:
    """Yield a task's demands before it begins, and the unmet ones later; nothing for a task without demands."""
    found = proof.of_task(tx, task)
    if found.contract.waived_by is not None:
        yield _waived(found.contract, found.contract.waived_by)
        return
    missing = lacking(found.findings)
    if task.status in (Status.QUEUED, Status.DELIVERED) and found.demands:
        told = say("task_done_when", demands=[meant(each, found.rules) for each in found.demands])
        yield Fact("task.done_when", told, {"done_when": list(found.demands)})
    elif missing:
        told = say("task_unproven", lacks=[_lack(each, found.rules) for each in missing])
        yield Fact("task.unproven", told, {"missing": [proof.shown(each) for each in missing]})
    elif found.findings:
        yield Fact("task.proven", say("task_proven"), {"done_when": list(found.demands)})


def meant(demand: str, rules: ProofRules) -> Phrase:
    """Put the meaning of a demand into words."""
    key, values = meaning(demand, rules)
    return say(
        f"demand_{key.replace('-', '_')}", **{name: _quoted(name, each) for name, each in values.items()}
    )


def reason(finding: Finding) -> Phrase | None:
    """Put the reason why a demand is not met into words; None if the stored sentence is not the hub's."""
    found = reason_of(finding.why)
    if found is None:
        return None
    key, values = found
    return say(f"unmet_{key}", **{name: _quoted(name, each) for name, each in values.items()})


def _quoted(name: str, text: str) -> str:
    """Quote others' words in a demand; a command has quotes of its own there."""
    if name in ("more", "code"):
        return text
    told = quoted(text, LENGTH)
    return told[1:-1].replace("`", "'") if name == "command" else told


def _lack(finding: Finding, rules: ProofRules) -> Phrase:
    verdict = finding.verdict.replace(" ", "_")
    return say(
        f"lack_{verdict}",
        demand=meant(finding.demand, rules),
        reason=reason(finding) or quoted(finding.why, LENGTH),
    )


def _waived(contract: Contract, by: str) -> Fact:
    reason = say("reason", reason=quoted(contract.waived_why)) if contract.waived_why else NOTHING
    detail = {"by": by, "reason": contract.waived_why, "at": contract.waived_at}
    return Fact("task.waived", say("task_waived", by=named(by), reason=reason), detail)
