"""Why a task does not count as completed yet: what it asks for that nobody saw; and who let that pass."""

from collections.abc import Iterator

from hubbub.core.why.explanation import NOTHING, Fact, Phrase, named, quoted, say
from hubbub.core.work import proof
from hubbub.model.lifecycle import Status
from hubbub.model.proof import Contract, Finding, ProofRules, lacking, meaning
from hubbub.model.proof import reason as reason_of
from hubbub.model.records import Task
from hubbub.store.tx import Tx

LENGTH = 200  # characters of a command, and of what a hook told


def of_task(tx: Tx, task: Task) -> Iterator[Fact]:
    """Tell what a task asks for before it begins, then what is lacking of that; nothing where it asks for nothing."""
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
    """Put what a demand means into words."""
    key, values = meaning(demand, rules)
    return say(
        f"demand_{key.replace('-', '_')}", **{name: _quoted(name, each) for name, each in values.items()}
    )


def reason(finding: Finding) -> Phrase | None:
    """Put why a demand is not met into words; None where a sentence was kept that is none of ours."""
    found = reason_of(finding.why)
    if found is None:
        return None
    key, values = found
    return say(f"unmet_{key}", **{name: _quoted(name, each) for name, each in values.items()})


def _quoted(name: str, text: str) -> str:
    """Quote what somebody wrote of a demand; a command stands in quotes of its own in the words."""
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
