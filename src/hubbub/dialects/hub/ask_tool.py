"""`ask`: the agent or the shell of another machine. That machine's own gate decides, as for everyone.

The transaction only determines the caller and the machine; the machine's work is done after it, and at most once for a
key.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Annotated
from uuid import UUID

from pydantic import Field, WithJsonSchema

from hubbub.core.fleet import nodes, own_machine
from hubbub.core.fleet.own_machine import NotServed
from hubbub.core.log import idempotency
from hubbub.core.transaction import Transactions
from hubbub.dialects.call import Call
from hubbub.dialects.dialect import Reply, digest
from hubbub.dialects.hub import vocabulary
from hubbub.dialects.hub.mail_notice import continue_after_commit, with_unread
from hubbub.dialects.hub.tool_set import DIALECT, Key, Line, Name, OwnContext, Text, act, header_of, no
from hubbub.model.errors import Conflict, Invalid, Offline
from hubbub.model.fleet import call_chain
from hubbub.model.fleet.calls import Node, NodeCall, Principal, RefusalCode, ToolResult
from hubbub.model.fleet.nodes import is_meant
from hubbub.model.ids import new_id
from hubbub.model.people.rights import HUB, Actor
from hubbub.model.timestamps import milliseconds
from hubbub.store.tx import Tx

PATIENCE = 45  # seconds

SAYINGS = {RefusalCode.TIMEOUT: "it took longer than the timeout, and was ended"}

Seconds = Annotated[int, Field(ge=1, le=600), WithJsonSchema({"type": "integer"})]


@DIALECT.tool(looks=lambda given: not {"machine", "prompt", "command"} & given.keys())
def ask(
    tx: Tx,
    call: Call,
    machine: Name | None = None,
    prompt: Text | None = None,
    command: Text | None = None,
    folder: Line | None = None,
    timeout: Seconds = PATIENCE,
    key: Key | None = None,
) -> Reply:
    """Have a machine's agent work on a prompt, or run a command there, if its gate lets it.

    Without arguments: which machines there are. timeout: seconds.
    """
    here = act(tx, call)
    if machine is None and prompt is None and command is None:
        return {"machines": _machines(tx, call, here)}
    if machine is None:
        raise Invalid("machine is missing: say which one; ask without arguments names them")
    if (prompt is None) == (command is None):
        raise Invalid("give either a prompt for the machine's agent, or a command for its shell")
    person = tx.actor.user_name if tx.actor.is_person and here.name == HUB else None
    order = NodeCall(
        who=Principal(
            project=here.project.slug,
            name=person or here.name,
            token_id=str(tx.actor.token_id) if tx.actor.token_id is not None else None,
            is_person=tx.actor.is_person,
        ),
        tool="ask_agent" if prompt is not None else "execute_command",
        arguments=_arguments(machine, prompt, command, folder, timeout),
        chain=call_chain.of_call(call.meta, tx.actor.chain),
        patience=timedelta(seconds=timeout),
    )
    own = own_machine.serving(tx, call.site.node, here.project.slug)
    continue_after_commit(call, MachineCall(call, machine, order, header_of(here), tx.speaker, own).done)
    return {}


def _machines(tx: Tx, call: Call, here: OwnContext) -> list[vocabulary.Row]:
    """List the machines that can be asked, the hub's own among them if it serves the project."""
    own = own_machine.serving(tx, call.site.node, here.project.slug)
    if own is not None:
        with suppress(Conflict):  # another machine had its name before
            nodes.report(tx, here.project, own.about, runtime=own.runtime)
    return [vocabulary.machine_row(each, tx.now) for each in nodes.listed(tx, here.project)]


def _arguments(
    machine: str, prompt: str | None, command: str | None, folder: str | None, timeout: int
) -> Mapping[str, object]:
    """Return the order's arguments, in the machines' form."""
    lasts = milliseconds(timedelta(seconds=timeout))
    if prompt is not None:
        return {"hostname": machine, "prompt": prompt, "timeout_ms": lasts}
    where = {"cwd": folder} if folder is not None else {}
    return {"command": command, "timeout_ms": lasts, **where}


@dataclass(frozen=True, slots=True)
class MachineCall:
    """One order on its way to the named machine.

    `headers` make the calls that the machine sends back act in the same project, by the same name. `speaker` is the
    project and the name of the agent that asks; None for a person. `own` is the hub's own machine, if it serves the
    project.
    """

    call: Call
    machine: str
    order: NodeCall
    headers: Mapping[str, str]
    speaker: tuple[UUID, str] | None
    own: Node | None

    async def done(self, transactions: Transactions, actor: Actor, key: str | None) -> ToolResult:
        """Return the result. Raises `Offline`, `NotServed`, and `Conflict` for a key of another call."""
        owner = self._owner(actor)
        own = digest(owner, key) if owner is not None and key is not None else key
        keyed = replace(self.order, key=own, attempt=self.call.attempt)
        node = await self._find(keyed)
        if node is not self.call.site.node:
            answer = _answer(await node.perform(keyed))
        elif key is None:
            answer = _answer(await self._here(node, transactions, actor))
        else:
            answer = await self._once(node, transactions, actor, key, owner)

        def tell(tx: Tx) -> Reply:
            tx.speaker = self.speaker
            return with_unread(tx, answer.content)

        return ToolResult(await transactions.read(actor, tell), is_error=answer.is_error)

    def _owner(self, actor: Actor) -> str | None:
        """Return the owner of a key beside the token, which several agents may share."""
        return self.speaker[1] if self.speaker is not None and actor.agent is None else None

    async def _once(
        self, node: Node, transactions: Transactions, actor: Actor, key: str, owner: str | None
    ) -> ToolResult:
        """Have the hub's own machine do it, once for the key; another machine stores the keys itself."""
        same = digest("hub.ask", node.name, self.order.tool, self.order.arguments)
        attempt = self.call.attempt
        known = await transactions.write(
            actor, lambda tx: idempotency.begin(tx, key, same, owner, attempt=attempt)
        )
        if known is not None:
            return known
        outcome = await self._here(node, transactions, actor)
        answer = _answer(outcome)
        end = partial(idempotency.refuse, attempt=attempt) if outcome.is_undone else idempotency.end
        await transactions.write(actor, lambda tx: end(tx, key, answer, owner))
        return answer

    async def _here(self, node: Node, transactions: Transactions, actor: Actor) -> ToolResult:
        """Return the result of the hub's own machine, which leaves the hub's part to the hub."""
        site = self.call.site
        meanwhile = Call(site=site, headers=self.headers)

        carry_out = site.carry_out

        async def act_for_it(asked: NodeCall) -> ToolResult:
            assert carry_out is not None
            return await carry_out(transactions, actor, asked, str(new_id()), meanwhile)

        return await node.perform(self.order, act_for_it if carry_out is not None else None)

    async def _find(self, keyed: NodeCall) -> Node:
        """Return the named machine, if it is there or has begun the order before. Raises `Offline`, `NotServed`."""
        site = self.call.site
        if site.node is not None and is_meant(site.node.name, self.machine):
            if self.own is None:
                raise NotServed(keyed.who.project)
            return self.own
        fleet = site.fleet
        node = await fleet.find(keyed.who.project, self.machine, keyed) if fleet is not None else None
        if node is None:
            raise Offline(
                f"the machine {self.machine!r} is not connected; ask without arguments names those that are"
            )
        return node


def _answer(outcome: ToolResult) -> ToolResult:
    """Return a machine's answer, in these tools' words."""
    told = outcome.content
    if not outcome.is_error:
        return ToolResult(told)
    code = outcome.code or RefusalCode.FAILED
    more = {name: told[name] for name in ("approval_id", "stdout", "stderr") if name in told}
    sentence = outcome.why or SAYINGS.get(code, "the machine says nothing of why")
    return ToolResult(no(str(code), sentence, **more), is_error=True)
