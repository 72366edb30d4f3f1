"""Permissions: persons, networks, roles, and tokens that are bound to one agent."""

import re
from datetime import timedelta

import pytest

from hubbub.model.people.rights import Role
from tests.dialects.commhub.callers import Fleet
from tests.dialects.commhub.requirements import requires
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.running_hub import Json, call

WRITES: dict[str, Json] = {
    "report_status": {"resume_id": "r", "alias": "coder-1", "status": "idle"},
    "report_completion": {"alias": "coder-1", "task": "t", "result": "r"},
    "ack_inbox": {"alias": "coder-1"},
    "send_task": {"alias": "coder-1", "task": "t"},
    "send_message": {"alias": "coder-1", "message": "m"},
    "send_reply": {"alias": "coder-1", "text": "t"},
    "send_ack": {},
    "retry_task": {},
    "cancel_task": {},
    "reassign_task": {"new_alias": "coder-1"},
    "broadcast": {"message": "m"},
}
READS: dict[str, Json] = {
    "get_inbox": {"alias": "coder-1"},
    "get_task": {},
    "list_tasks": {},
    "get_all_status": {},
    "get_session_status": {"alias": "coder-1"},
    "get_completions": {},
}
NAMES_A_TASK = {"send_ack", "retry_task", "cancel_task", "reassign_task", "get_task"}


def _prepared(fleet: Fleet, tool: str) -> Json:
    """Return correct arguments of the tool in this network."""
    fleet.online("coder-1")
    task_id = fleet.program().send_task(alias="coder-1", task="t")["message_id"]
    if tool == "retry_task":
        fleet.program().cancel_task(task_id=task_id)
    arguments = {**WRITES, **READS}[tool]
    if tool in NAMES_A_TASK:
        return {**arguments, "task_id": task_id}
    return {**arguments, "message_id": task_id} if tool == "ack_inbox" else arguments


def _says(answer: tuple[Json, bool], error: str, *words: str) -> None:
    content, is_error = answer
    assert (content["ok"], content["error"], is_error) == (False, error, False)
    assert all(word in content["message"] for word in words)


@requires("tokens.viewer", "send_task.viewer", "all.permission_denied", "transport.refusal")
def test_a_viewer_changes_nothing(fleet: Fleet) -> None:
    """Every tool that writes is permission_denied to a viewer, whose call leaves no trace."""
    calls = {tool: _prepared(fleet, tool) for tool in WRITES}
    unbound, bound = fleet.program(Role.VIEWER), fleet.agent("coder-1", Role.VIEWER)

    with every_row() as row, fleet.unchanged():
        for tool, arguments in calls.items():
            for viewer in (unbound, bound):
                with row(tool, "bound" if viewer is bound else "unbound"):
                    _says(viewer.ask(tool, arguments), "permission_denied", "viewer")


@requires("tokens.viewer_reads")
def test_a_viewer_reads(anywhere: Fleet) -> None:
    """Every tool that reads answers a viewer, and leaves no trace of it either."""
    calls = {tool: _prepared(anywhere, tool) for tool in READS}
    viewer = anywhere.program(Role.VIEWER)

    with every_row() as row, anywhere.unchanged():
        for tool, arguments in calls.items():
            with row(tool):
                assert viewer.ask(tool, arguments)[0]["ok"] is True


@requires("tokens.pinned", "tokens.network_id")
def test_a_network_token_is_pinned(anywhere: Fleet, anywhere_else: Fleet) -> None:
    """With another network_id, of a network that is there or not, every tool refuses a network token."""
    calls = {tool: _prepared(anywhere, tool) for tool in (*WRITES, *READS)}
    program = anywhere.program()
    others = (anywhere_else.network_id, anywhere_else.project.slug, "net_000000000000", "net_xxx", " ")

    with every_row() as row, anywhere.unchanged(), anywhere_else.unchanged():
        for tool, arguments in calls.items():
            for other in others:
                with row(tool, other):
                    answer, is_error = program.ask(tool, {**arguments, "network_id": other})
                    assert answer == {"ok": False, "error": "access denied to requested network"}
                    assert not is_error


@requires("tokens.network_id", "words.slug")
def test_every_tool_takes_its_network(anywhere: Fleet) -> None:
    """A network token may name its own network in every tool."""
    with every_row() as row:
        for tool in (*WRITES, *READS):
            arguments = _prepared(anywhere, tool)
            with row(tool):
                answer, _ = anywhere.program().ask(tool, {**arguments, "network_id": anywhere.network_id})
                assert answer["ok"] is True, answer


@requires("words.slug", "words.network_id")
def test_a_network_has_several_names(fleet: Fleet) -> None:
    """net_ and 12 hex digits, the slug and the whole id name the same network."""
    fleet.online("coder-1")

    for name in (fleet.network_id, fleet.project.slug, str(fleet.project.id)):
        assert fleet.program().send_task(alias="coder-1", task="t", network_id=name)["ok"] is True
    assert re.fullmatch(r"net_[0-9a-f]{12}", fleet.inbox("coder-1")[0]["network_id"])


@requires("tokens.only_membership", "tokens.network_required", "all.permission_denied", "broadcast.network")
def test_a_person_says_which_network(fleet: Fleet, elsewhere: Fleet) -> None:
    """A person's write goes to their only network; with several, or none, it must be said which: permission_denied."""
    calls = {
        tool: _prepared(fleet, tool)
        for tool in sorted({*WRITES} - NAMES_A_TASK - {"report_status", "ack_inbox"})
    }
    elsewhere.online("coder-1")
    one = fleet.person((fleet.project, Role.MEMBER))
    two = fleet.person((fleet.project, Role.MEMBER), (elsewhere.project, Role.OWNER))
    nobody = fleet.person()

    with every_row() as row:
        with fleet.unchanged(), elsewhere.unchanged():
            for tool, arguments in calls.items():
                with row(tool, "refused"):
                    _says(two.ask(tool, arguments), "permission_denied", "network_id is required")
                    _says(nobody.ask(tool, arguments), "permission_denied", "network_id is required")
                    assert nobody.ask(tool, {**arguments, "network_id": fleet.network_id})[0]["ok"] is False
        with elsewhere.unchanged():
            for tool, arguments in calls.items():
                with row(tool, "allowed"):
                    assert one.ask(tool, arguments)[0]["ok"] is True
                    assert two.ask(tool, {**arguments, "network_id": fleet.network_id})[0]["ok"] is True


@requires("tokens.membership_role")
def test_a_persons_role_is_that_of_the_network(fleet: Fleet, elsewhere: Fleet) -> None:
    """A viewer here who is a member there may write there only."""
    for each in (fleet, elsewhere):
        each.online("coder-1")
    person = fleet.person((fleet.project, Role.VIEWER), (elsewhere.project, Role.MEMBER))
    send = {"alias": "coder-1", "task": "t"}

    with fleet.unchanged():
        _says(
            person.ask("send_task", {**send, "network_id": fleet.network_id}), "permission_denied", "viewer"
        )
    assert person.send_task(**send, network_id=elsewhere.network_id)["ok"] is True


@requires("tokens.task_implies", "tokens.foreign")
@pytest.mark.parametrize("tool", sorted(NAMES_A_TASK | {"ack_inbox"}))
def test_a_task_implies_its_network(fleet: Fleet, elsewhere: Fleet, tool: str) -> None:
    """A person of several networks need not say which one a task is in; of one who is in neither it is not found."""
    arguments = _prepared(elsewhere, tool)
    two = fleet.person((fleet.project, Role.MEMBER), (elsewhere.project, Role.MEMBER))
    stranger = fleet.person((fleet.project, Role.OWNER))

    with elsewhere.unchanged():
        error = stranger.ask(tool, arguments)[0]["error"]
        assert error == ("message not found or not yours" if tool == "ack_inbox" else "task not found")
    assert two.ask(tool, arguments)[0]["ok"] is True


@requires("tokens.task_implies")
def test_a_reply_implies_its_network(fleet: Fleet, elsewhere: Fleet) -> None:
    """A reply goes to the network of the task, or of the message, that it answers."""
    two = fleet.person((fleet.project, Role.MEMBER), (elsewhere.project, Role.MEMBER))
    fleet.online("coder-1")
    for sent in (
        fleet.program().send_task(alias="coder-1", task="t"),
        fleet.program().send_message(alias="coder-1", message="m"),
    ):
        answer = two.send_reply(alias="coder-1", text="r", in_reply_to=sent["message_id"])
        assert answer["ok"] is True, answer


@requires("tokens.mismatch", "broadcast.from_hub")
def test_a_bound_token_is_one_agent(anywhere: Fleet) -> None:
    """A token that is bound to an agent cannot act as another one, nor as hub, and its try leaves no trace."""
    calls = {tool: _prepared(anywhere, tool) for tool in sorted({*WRITES} - {"ack_inbox", "broadcast"})}
    other = anywhere.agent("coder-2")

    with every_row() as row, anywhere.unchanged():
        for tool, arguments in calls.items():
            speaks_as = "alias" if tool in ("report_status", "report_completion") else "from_session"
            for name in ("coder-1", "hub", "newcomer"):
                with row(tool, name):
                    answer = other.ask(tool, {**arguments, speaks_as: name})
                    _says(answer, "from_session_identity_mismatch", "coder-2")


@requires("tokens.bound_default")
def test_a_bound_token_speaks_as_its_agent(fleet: Fleet) -> None:
    """Without from_session, or with its own name, what a bound token sends comes from its agent."""
    fleet.online("coder-1")
    boss = fleet.agent("指挥室")

    for said in ({}, {"from_session": "指挥室"}):
        task_id = boss.send_task(alias="coder-1", task="t", **said)["message_id"]
        assert fleet.task(task_id)["from_name"] == "指挥室"
        boss.send_message(alias="coder-1", message="m", **said)
        boss.send_reply(alias="coder-1", text="r", **said)
    assert {row["from_session"] for row in fleet.inbox("coder-1")} == {"指挥室"}


@requires("tokens.unbound", "inbox.acts_is_known")
def test_an_unbound_token_is_any_agent(fleet: Fleet) -> None:
    """A member's unbound token reports, reads, acknowledges and completes as any agent of the network."""
    program = fleet.program()
    for name in ("a", "代码1号"):
        program.report_status(resume_id=name, alias=name, status="idle")
    task_id = program.send_task(alias="代码1号", task="t", from_session="a")["message_id"]

    assert len(program.get_inbox(alias="代码1号")["messages"]) == 1
    assert program.ack_inbox(alias="代码1号", message_id=task_id)["ok"] is True
    assert program.report_completion(alias="代码1号", task=task_id, result="r")["ok"] is True
    assert fleet.task(task_id)["status"] == "replied"


@requires("tokens.shape", "tokens.hashed")
def test_a_token_is_shown_once_and_kept_hashed(fleet: Fleet) -> None:
    """A token is utok_ or ntok_ and 32 hex digits; nothing that is kept contains it."""
    person = fleet.person((fleet.project, Role.MEMBER))
    made = [fleet.token(), fleet.token("coder-1", role=Role.VIEWER), person.secret]

    assert [secret[:5] for secret in made] == ["ntok_", "ntok_", "utok_"]
    assert all(re.fullmatch(r"[un]tok_[0-9a-f]{32}", secret) for secret in made)
    kept = repr(fleet.world())
    assert not [secret for secret in made if secret in kept or secret[5:] in kept]
    assert "coder-1" in kept


@requires("tokens.revoked", "transport.unauthorized")
@pytest.mark.parametrize("how", ["revoked", "expired"])
@both_engines
def test_a_token_ends_at_once(fleet: Fleet, how: str) -> None:
    """The first call after a token was revoked, or ran out, is answered by 401 and does nothing."""
    fleet.online("coder-1")
    secret = fleet.token(ttl=timedelta(minutes=5) if how == "expired" else None)
    send = call("send_message", alias="coder-1", message="m")
    assert fleet.post(send, secret).status_code == 200

    if how == "revoked":
        fleet.revoke(secret)
    else:
        fleet.later(minutes=5)

    with fleet.unchanged():
        answer = fleet.post(send, secret)
    assert answer.status_code == 401
    assert "resource_metadata" not in answer.headers.get("www-authenticate", "")
