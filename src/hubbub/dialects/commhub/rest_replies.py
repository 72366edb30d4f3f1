"""CommHub's REST beside the tools: accounts, message history and nodes; the replies, without HTTP."""

from datetime import timedelta

from hubbub.core.agents import agents
from hubbub.core.mail import messages
from hubbub.core.people import access, tokens, users
from hubbub.dialects.commhub import vocabulary
from hubbub.dialects.dialect import Reply
from hubbub.model.people.accounts import User
from hubbub.model.people.rights import Actor, Role
from hubbub.store.tx import Tx

LOGIN_TTL = timedelta(days=30)


def register(tx: Tx, username: str, password_hash: str, *, invite_code: str | None, is_open: bool) -> Reply:
    """Register a person; they get a token that does not expire."""
    user, secret = users.register(tx, username, password_hash, invite_code=invite_code, is_open=is_open)
    return _signed_in(tx, user, secret)


def login(tx: Tx, user: User, label: str | None) -> Reply:
    """Create a token for a person who has proved their identity; `label` says what it is for."""
    _token, secret = tokens.for_person(tx, user.id, ttl=LOGIN_TTL, label=label)
    return _signed_in(tx, user, secret)


def me(tx: Tx) -> Reply:
    """Return the person of the token."""
    actor = tx.actor
    user = users.find(tx, actor.user_id) if actor.user_id and actor.is_person else None
    return {
        "user": vocabulary.user_row(user) if user else None,
        "token_type": "user" if actor.is_person else "network",
        "alias": actor.agent,
        "networks": [vocabulary.network_row(project, role) for project, role in access.memberships(tx)],
    }


def node_token(tx: Tx, network_id: str | None, node_name: str | None) -> Reply:
    """Return a token of the network for the programs on a node, which may act under any alias there."""
    project = access.enter(tx, network_id)
    _token, secret = tokens.for_project(tx, project, role=Role.MEMBER)
    return {"token": secret, "network_id": vocabulary.network_id(project), "node_name": node_name}


def message_history(tx: Tx, network_id: str | None, alias: str | None, limit: int) -> Reply:
    """List the messages of the caller's networks, newest first; those from or to one alias, if it is given."""
    rows = [
        vocabulary.message_row(message, project)
        for project in access.visible(tx, network_id)
        for message in messages.history(tx, project.id, party=alias, limit=limit)
    ]
    rows.sort(key=lambda row: str(row["id"]), reverse=True)
    return {"messages": rows[:limit]}


def nodes(tx: Tx, network_id: str | None) -> Reply:
    """List the machines that agents have described."""
    return {
        "nodes": [
            vocabulary.node_row(node, project)
            for project in access.visible(tx, network_id)
            for node in agents.nodes(tx, project.id)
        ]
    }


def _signed_in(tx: Tx, user: User, secret: str) -> Reply:
    tx.actor = Actor(token_id=None, user_id=user.id, user_name=user.name, owns_hub=user.owns_hub)
    networks = [vocabulary.network_row(project, role) for project, role in access.memberships(tx)]
    return {"token": secret, "user": vocabulary.user_row(user), "networks": networks}
