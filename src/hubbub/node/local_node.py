"""This machine, carrying out agents' orders: past its gate, with questions to people, and a line in its audit log.

The line is written before the act, and nothing is done without it. After a yes the call is read once more: exactly the
approved call is done, or nothing is.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from hubbub.model.errors import HubError
from hubbub.model.fleet.calls import (
    Answered,
    NodeCall,
    NodeInfo,
    PerformCall,
    Question,
    RefusalCode,
    Ruling,
    ToolResult,
    ToolSpec,
    call_digest,
    refused,
)
from hubbub.model.json_chunks import is_large
from hubbub.model.redaction import Redactor
from hubbub.model.visible_text import beginnings, cut, visible
from hubbub.node.agents.supervisor import AgentSupervisor
from hubbub.node.audit.audit_log import AuditFailed, AuditLog, AuditVerdict
from hubbub.node.audit.hash_chain import NOTHING
from hubbub.node.gate.approval_requests import ApprovalRequests
from hubbub.node.gate.evaluation import Evaluation, evaluate, named
from hubbub.node.policy.approver_keys import UNSIGNED, is_signed
from hubbub.node.policy.node_policy import Policy
from hubbub.node.requests.hub_client import HubClient
from hubbub.node.sandbox import choose
from hubbub.node.ssh.remote_shells import RemoteShells
from hubbub.node.tools import delegation, forwarding, skills, ssh
from hubbub.node.tools.background_tasks import BackgroundTasks
from hubbub.node.tools.tool_context import Tool, ToolContext
from hubbub.processes.log import structlog
from shellgate.decision import Decision, Effect, Source
from shellgate.world import World

log = structlog.get_logger("hubbub")

APPROVED = "a person approved it, asked by the machine that it comes from"
RESUMED = "it was let through when it was started, before the machine's own process began again"
CHANGED = "it differs from the call that was allowed at its start; start it anew"
KEY_SET = "connect key_set"
SEAL_EVERY = timedelta(minutes=1)
LAST_SEAL = timedelta(seconds=2)


class LocalNode:
    """The machine that this process runs on. Enter `alive` while orders are given."""

    def __init__(
        self,
        *,
        about: NodeInfo,
        data: Path,
        log_file: Path,
        world: Callable[[Policy], World],
        policy: Callable[[], Policy],
        hub: HubClient,
        redactor: Redactor,
        audit: AuditLog,
        tools: Mapping[str, Tool],
        catalogue: Sequence[ToolSpec] = (),
        agents: AgentSupervisor | None = None,
    ) -> None:
        self._about = about
        self._data, self._log_file = data, log_file
        self._world, self._policy = world, policy
        self._hub, self._asking = hub, ApprovalRequests(hub)
        self._redactor = redactor
        self._audit = audit
        self._sealed = NOTHING  # the head that the hub knows
        self._tools, self._catalogue = tools, catalogue
        self._errands, self._shells = BackgroundTasks(), RemoteShells()
        self._agents = agents

    @property
    def name(self) -> str:
        return self._about.name

    @property
    def about(self) -> NodeInfo:
        """Return how the machine presents itself, with what is wrong with its present policy."""
        fault = self._policy().fault
        return self._about if fault is None else replace(self._about, policy_fault=cut(visible(fault), 1_000))

    @property
    def runtime(self) -> str | None:
        """Return the name of the agent that can be asked here, by the present policy."""
        runtime = self._policy().runtime
        return runtime.name if runtime is not None else None

    @asynccontextmanager
    async def alive(self) -> AsyncIterator[None]:
        """Report the head of the audit log to the hub each minute; at the end, end the work in the background."""

        async def seal() -> None:
            while True:
                await asyncio.sleep(SEAL_EVERY.total_seconds())
                await self._seal()

        await self._errands.settle(self._hub, self._data)
        await self._learn_key()
        sealing = asyncio.create_task(seal())
        if self._agents is not None:
            await self._agents.open(self._resume)
        try:
            yield
        finally:
            sealing.cancel()
            if self._agents is not None:
                await self._agents.close()
            await self._errands.close()
            await self._shells.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_SEAL.total_seconds()):
                    await self._hub.settle()
                    await self._seal()

    async def _learn_key(self) -> None:
        """Learn the project's key, so that it is removed from all answers."""
        try:
            key = await self._hub.key()
        except HubError as error:
            log.warning("the project's key is not known, and so not taken out of text", reason=str(error))
        else:
            self._redactor.learn([key] if key is not None else [])

    async def perform(self, order: NodeCall, act: PerformCall | None = None) -> ToolResult:
        """Carry out the order if the gate lets it; `act` does the hub's part of a call.

        The result is without secrets. Raises `InputRequired` if the client has to make the call again.
        """
        do = self._doer(order, act)
        if do is None:
            return refused(RefusalCode.INVALID, f"this machine has no tool {order.tool}")
        try:
            weighed = await self._weighed(order)
            match weighed.decision.effect:
                case Effect.ALLOW:
                    return await self._done(weighed, act, do, AuditVerdict.ALLOW)
                case Effect.DENY:
                    return self._denied(weighed)
                case Effect.ASK:
                    return await self._why_not(weighed, act) or await self._asked(weighed, act, do)
        except AuditFailed as error:
            log.error("the audit log cannot be written", reason=str(error))
            return refused(RefusalCode.FAILED, str(error))

    async def _resume(self, order: NodeCall, digest: str) -> ToolResult:
        """Repeat an act of an earlier process, if the call is unchanged and nothing forbids it now."""
        weighed = await self._weighed(order)
        is_same = self._digest(weighed) == digest
        if not is_same or weighed.decision.effect is Effect.DENY:
            changed = replace(weighed.decision, effect=Effect.DENY, reason=CHANGED)
            return self._denied(weighed if is_same else _decided(weighed, changed))
        again = replace(weighed.decision, effect=Effect.ALLOW, reason=RESUMED)
        return await self._done(_decided(weighed, again), None, self._tools[order.tool], AuditVerdict.ALLOW)

    # ---- the gate ------------------------------------------------------------------------------------------------

    async def _weighed(self, order: NodeCall) -> Evaluation:
        policy = self._policy()
        sandbox = choose(network=policy.network)
        return await evaluate(order, policy, self._world(policy), sandbox, data=self._data, node=self.name)

    async def _why_not(self, weighed: Evaluation, act: PerformCall | None) -> ToolResult | None:
        """Return the refusal of a call that could not succeed after any yes, so that nobody is asked about it."""
        place = self._place(weighed, act)
        for why_not in (skills.why_not, delegation.why_not, ssh.why_not):
            if (refusal := await why_not(place, weighed.order)) is not None:
                return refusal
        return None

    async def _asked(self, weighed: Evaluation, act: PerformCall | None, do: Tool) -> ToolResult:
        """Do it if a person says yes, or has done so already and only the hub's part is left."""
        unasked = forwarding.why_unasked(self.name, named(weighed.order), weighed.order)
        if unasked is not None:
            passed = replace(weighed.decision, effect=Effect.ALLOW, reason=unasked)
            return await self._done(_decided(weighed, passed), act, do, AuditVerdict.ALLOW)
        question = self._question(weighed)
        if weighed.order.approved == question.shown and named(weighed.order) not in self._tools:
            yes = replace(weighed.decision, effect=Effect.ALLOW, source=Source.PERSON, reason=APPROVED)
            return await self._done(_decided(weighed, yes), act, do, AuditVerdict.ASK_ALLOWED)
        patience = _patience(weighed)
        try:
            answered = await self._asking.ask(question, weighed.order.client, weighed.policy, patience)
        except HubError as error:
            reason = f"{weighed.decision.reason}; and nobody can be asked: {error}"
            return self._denied(
                _decided(weighed, replace(weighed.decision, effect=Effect.DENY, reason=reason))
            )
        if answered.ruling is Ruling.APPROVED:
            return await self._approved(weighed, answered, act, do)
        if answered.ruling is Ruling.DENIED:
            return self._denied(_by_person(weighed, answered, Effect.DENY), AuditVerdict.ASK_DENIED)
        waited = f"no person answered within {patience.total_seconds():g} s"
        return self._unanswered(weighed, answered, waited)

    async def _approved(
        self, weighed: Evaluation, answered: Answered, act: PerformCall | None, do: Tool
    ) -> ToolResult:
        """Do the approved act, if the call is unchanged."""
        question = self._question(weighed)
        if not is_signed(weighed.policy.approvers, self._about.machine_id, question, answered):
            unsigned = replace(weighed.decision, effect=Effect.DENY, reason=UNSIGNED)
            return self._denied(_decided(weighed, unsigned), AuditVerdict.ASK_DENIED)
        again = await self._weighed(weighed.order)
        if again.decision.effect is Effect.DENY:
            return self._denied(again)
        if (again.order, again.reading, again.world.cwd) != (
            weighed.order,
            weighed.reading,
            weighed.world.cwd,
        ):
            changed = "its effect has changed since a person was asked"
            return self._unanswered(weighed, answered, changed)
        told = replace(again, order=replace(again.order, approval_id=answered.approval_id))
        return await self._done(_by_person(told, answered, Effect.ALLOW), act, do, AuditVerdict.ASK_ALLOWED)

    def _question(self, weighed: Evaluation) -> Question:
        order = weighed.order
        hidden = {"key": "[redacted]"} if "key" in order.arguments else {}
        shown = weighed.reading.target or order.tool
        return Question(
            who=order.who,
            node=self.name,
            tool=order.tool,
            arguments=self._redactor.value(beginnings({**order.arguments, **hidden})),
            folder=weighed.world.cwd,
            shown=visible(self._redactor.text(shown), lines=True),
            reason=visible(self._redactor.text(weighed.decision.reason)),
            digest=self._digest(weighed),
            dangerous=weighed.decision.source is Source.FLOOR,
        )

    def _denied(self, weighed: Evaluation, verdict: AuditVerdict = AuditVerdict.DENY) -> ToolResult:
        self._write(weighed, verdict)
        facts = {"tool": weighed.order.tool, **self._facts(weighed, Effect.DENY)}
        return delegation.of_each(
            self.name, weighed.order, refused(RefusalCode.DENIED, "permission_denied", **facts)
        )

    def _unanswered(self, weighed: Evaluation, answered: Answered, why: str) -> ToolResult:
        """Return the result of a call without a yes; its approval is used up, whatever comes later."""
        self._write(weighed, AuditVerdict.ASK_TIMEOUT)
        sentence = f"this needs a person's approval, and {why}; nothing was done"
        facts = {"tool": weighed.order.tool, **self._facts(weighed, Effect.ASK)}
        refusal = refused(RefusalCode.NEEDS_APPROVAL, sentence, approval_id=answered.approval_id, **facts)
        return delegation.of_each(self.name, weighed.order, refusal)

    def _facts(self, weighed: Evaluation, effect: Effect) -> dict[str, object]:
        """Return the reported facts of a decision."""
        decision = weighed.decision
        return {
            "target": self._redactor.text(weighed.reading.target),
            "decision": effect.word,
            "source": str(decision.source),
            "rule_id": decision.rule_id,
            "reason": self._redactor.text(decision.reason),
        }

    # ---- the act -------------------------------------------------------------------------------------------------

    def _doer(self, order: NodeCall, act: PerformCall | None) -> Tool | None:
        """Return the performer of the order: a tool of this machine, or else its caller."""
        tool = self._tools.get(named(order))
        if tool is not None or act is None:
            return tool

        async def elsewhere(_place: ToolContext, order: NodeCall) -> ToolResult:
            return await act(order)

        return elsewhere

    async def _done(
        self, weighed: Evaluation, act: PerformCall | None, do: Tool, verdict: AuditVerdict
    ) -> ToolResult:
        seq = self._write(weighed, verdict)
        result = "broken"
        try:
            outcome = await do(self._place(weighed, act), weighed.order)
            self._learn(weighed.order, outcome)
            result = _result(outcome)
        except HubError as error:
            outcome = refused(RefusalCode.FAILED, str(error))
            result = _result(outcome)
        except asyncio.CancelledError:
            result = "cancelled"
            raise
        finally:
            self._write_end(seq, result, weighed.order)
        if is_large(outcome.value):  # reading it takes a while, in which others get their turns
            return await asyncio.to_thread(self._without_secrets, outcome)
        return self._without_secrets(outcome)

    def _place(self, weighed: Evaluation, act: PerformCall | None) -> ToolContext:
        return ToolContext(
            node=self.name,
            machine_id=self._about.machine_id,
            data=self._data,
            log=self._log_file,
            world=weighed.world,
            reading=weighed.reading,
            policy=weighed.policy,
            sandbox=weighed.sandbox,
            hub=self._hub,
            redact=self._redactor.text,
            perform=partial(self.perform, act=act),
            act=act,
            catalogue=self._catalogue,
            errands=self._errands,
            shells=self._shells,
            agents=self._agents,
        )

    def _learn(self, order: NodeCall, outcome: ToolResult) -> None:
        """Remember a stored key as a secret."""
        if named(order) == KEY_SET and not outcome.is_error:
            self._redactor.learn([str(order.arguments["key"])])

    def _without_secrets(self, outcome: ToolResult) -> ToolResult:
        clean = self._redactor
        return replace(
            outcome,
            value=clean.value(outcome.value),
            texts=tuple(map(clean.text, outcome.texts)) if outcome.texts is not None else None,
            structured=clean.value(outcome.structured) if outcome.structured is not None else None,
        )

    # ---- the log -------------------------------------------------------------------------------------------------

    def _write(self, weighed: Evaluation, verdict: AuditVerdict) -> int:
        """Write the line of a decision. Raises `AuditFailed`."""
        decision = weighed.decision
        return self._audit.decided(
            decision=verdict,
            tool=weighed.order.tool,
            target=visible(self._redactor.text(weighed.reading.target)),
            source=str(decision.source),
            rule_id=decision.rule_id,
            reason=visible(self._redactor.text(decision.reason)),
            digest=self._digest(weighed),
            sandbox=weighed.sandbox.name,
            who=_who(weighed.order),
        )

    def _write_end(self, seq: int, result: str, order: NodeCall) -> None:
        """Write the line of a result. The act is done, and its caller must not be told otherwise."""
        try:
            self._audit.ended(seq, result=result, who=_who(order))
        except AuditFailed as error:
            log.critical("what came of a call could not be written down", seq=seq, reason=str(error))

    async def _seal(self) -> None:
        """Report the head of the log to the hub, if it has grown."""
        try:
            head = self._audit.head()
            if head != self._sealed:
                await self._hub.seal(head.seq, head.digest)
                self._sealed = head
        except (AuditFailed, HubError) as error:
            log.warning("the head of the audit log could not be told to the hub", reason=str(error))

    def _digest(self, weighed: Evaluation) -> str:
        order = weighed.order
        return call_digest(order.who, order.tool, order.arguments, weighed.world.cwd, self.name)


def _decided(weighed: Evaluation, decision: Decision) -> Evaluation:
    return replace(weighed, decision=decision)


def _patience(weighed: Evaluation) -> timedelta:
    """Return the time for a person to think: the policy's, at most the caller's wait."""
    allowed, waits = weighed.policy.approval_timeout, weighed.order.patience
    return allowed if waits is None else min(allowed, waits)


def _by_person(weighed: Evaluation, answered: Answered, effect: Effect) -> Evaluation:
    verb = "approved" if effect is Effect.ALLOW else "denied"
    by = visible(answered.by) if answered.by else "a person"
    decision = replace(weighed.decision, effect=effect, source=Source.PERSON, reason=f"{by} {verb} it")
    return _decided(weighed, decision)


def _who(order: NodeCall) -> str:
    return f"{order.who.project}/{visible(order.who.name)}"


def _result(outcome: ToolResult) -> str:
    """Return the log's word for an outcome: `ok`, or the code of the refusal."""
    return str(outcome.code or "ok")
