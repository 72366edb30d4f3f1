"""A question that a scripted machine puts, and the person who answers it."""

from hubbub.client import Hub as Rest
from tests.serve.fleet.scripted_machine import Field, Json

DIGEST = "a" * 64


def question(**other: object) -> Json:
    who = {"project": "elsewhere", "name": "the owner", "token_id": None, "is_person": True}
    return {
        "who": who,
        "node": "another machine",
        "tool": "execute_command",
        "arguments": {"command": "make"},
        "folder": "/src",
        "shown": "make",
        "reason": "the mode asks",
        "digest": DIGEST,
        "kind": "call",
        **other,
    }


def asking(approval_id: str, **other: object) -> Json:
    return {"approval_id": approval_id, "patience_seconds": 600, "question": question(**other)}


def owner(field: Field) -> Rest:
    rest = Rest(field.hub.url, field.hub.owner_secret, project=field.hub.project.slug)
    field.closing.callback(rest.close)
    return rest
