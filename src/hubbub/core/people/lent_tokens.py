"""Lent tokens for the programs that are machines' agents, each for one order and no longer.

With such a token a program acts as the caller of the order, but never as a person: it may use the tools of cmdop and
nothing else of the hub, and it reads nobody's mail. The token ends with the order, with the caller's token, or by age.
"""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from hubbub.core.people import access, tokens
from hubbub.model.errors import Conflict, Unauthorized
from hubbub.model.fleet import call_chain
from hubbub.model.fleet.call_chain import CallChain
from hubbub.model.fleet.calls import Principal
from hubbub.model.fleet.nodes import beside
from hubbub.model.ids import parse_id
from hubbub.model.people.accounts import Token
from hubbub.model.people.rights import HUB, Actor, Right
from hubbub.model.records import Project
from hubbub.model.timestamps import milliseconds
from hubbub.store.people import tokens as rows
from hubbub.store.tx import Tx

LASTS = timedelta(minutes=31)  # a program has half an hour for one prompt
MOST = 1_000  # lent from one token at a time
KEEP = timedelta(days=1)  # after its end, so that it can be looked up


def lend(
    tx: Tx, project: Project, who: Principal, *, node: str, purpose: UUID, chain: CallChain = ()
) -> tuple[Token, str]:
    """Lend a token to the program that is the agent of `node` and works for `who`; return it and its secret.

    `purpose` is the order, or the background task; earlier loans for it end. `chain` is the claimed
    chain of callers up to this program: it counts if it continues that of the token of `who`. Raises `Unauthorized` if
    that token has ended, `Forbidden` if it may not write, and `Conflict` for too many loans or too long a chain.
    """
    token_id = parse_id(who.token_id or "")
    if token_id is None:
        raise Unauthorized
    return lend_from(tx, project, access.stand_in(tx, token_id), who, node=node, purpose=purpose, chain=chain)


def lend_from(
    tx: Tx,
    project: Project,
    lender: Actor,
    who: Principal,
    *,
    node: str,
    purpose: UUID,
    chain: CallChain = (),
) -> tuple[Token, str]:
    """Lend a token like `lend`, from the token of the `lender` itself."""
    access.enter(replace(tx, actor=lender), str(project.id), Right.WRITE)
    chain = _chain(lender, who, node, chain)
    end(tx, purpose)
    if lender.token_id is None or len(rows.lent_from(tx, lender.token_id)) >= MOST:
        raise Conflict(f"{MOST:,} tokens are lent from this one already; an order has to end first")
    is_agent = not who.is_person and who.name != HUB
    name = lender.agent or (who.name if is_agent else beside(lender.label, node))
    return tokens.lent(tx, project, lender, agent=name, purpose=purpose, chain=chain, lasts=LASTS)


def _chain(lender: Actor, who: Principal, node: str, said: CallChain) -> CallChain:
    """Return the chain of callers up to the borrowing program: one link more than the lender's. Raises `Conflict`."""
    if len(said) <= len(lender.chain) or call_chain.at_least(said, lender.chain) != said:
        said = call_chain.longer(lender.chain, who.name, node)
    if (why := call_chain.too_deep(said[:-1])) is not None:
        raise Conflict(why)
    return said


def end(tx: Tx, purpose: UUID) -> None:
    """End the loans for an order or task that is over. Records `token.revoked`."""
    for token in rows.lent_for(tx, purpose):
        tokens.end(tx, token.id)


def give_back(tx: Tx, secret: str) -> None:
    """End a loan that its holder does not need any more. Records `token.revoked`."""
    token = rows.find_valid(tx, access.fingerprint(secret))
    if token is not None and token.lent_from is not None:
        tokens.end(tx, token.id)


def end_of(tx: Tx, project: Project, user_id: UUID) -> None:
    """End the loans for a person's orders in a project, where their rights have shrunk. Records `token.revoked`."""
    for token in rows.lent_to(tx, project.id, user_id):
        tokens.end(tx, token.id)


def forget(tx: Tx) -> None:
    """Drop loans that ended a while ago."""
    rows.forget_lent(tx, tx.now - milliseconds(KEEP))
