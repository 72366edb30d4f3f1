"""The gate around every call: what it denies, whom it asks, what it writes down."""

import threading
from typing import Any

import pytest

from hubbub.client import Hub as Rest
from hubbub.client import HubRefused
from hubbub.model.json_chunks import SOME
from tests.dialects.cmdop.callers import refusal
from tests.dialects.cmdop.requirements import requires
from tests.dialects.cmdop.workshop import Agent, Workshop
from tests.support.waiting import patience, until

BYPASS = 'mode = "bypass"'
IMPATIENT = "approval_timeout = 0.05"
TOLD = {"error", "code", "tool", "target", "decision", "source", "rule_id", "reason"}
TOUCH = {"command": "touch made"}


@requires("gate.denied")
def test_a_denied_call_says_why(machine: Workshop) -> None:
    """A call that the floor denies is denied in every mode, with all that helps to understand it; nothing is done."""
    machine.policy(BYPASS)
    ada = machine.agent()

    denied = ada.wrong("write_file", path=".git/config", content="x")

    assert set(denied) == TOLD
    assert {name: denied[name] for name in ("error", "code", "tool", "decision", "source", "rule_id")} == {
        "error": "permission_denied", "code": "denied", "tool": "write_file",
        "decision": "deny", "source": "floor", "rule_id": "F4",
    }  # fmt: skip
    assert not (machine.root / ".git").exists()
    assert ada.wrong("execute_command", command="rm -rf /")["rule_id"] == "F1"


@requires("gate.approved", "gate.person_denied", "gate.spent")
def test_a_person_decides(machine: Workshop) -> None:
    """A call that is asked about runs if a person says yes, once for each yes; a no is a person's denial."""
    machine.policy(f"approval_timeout = {patience()}")
    ada, made = machine.agent(), machine.root / "made"

    with machine.answering("approve"):
        assert ada.execute_command(**TOUCH)["exit_code"] == 0
    assert made.exists()
    made.unlink()
    with machine.answering("deny"):
        denied = ada.wrong("execute_command", **TOUCH)
    assert set(denied) == TOLD
    assert (denied["code"], denied["decision"], denied["source"]) == ("denied", "deny", "person")
    assert not made.exists()


@requires("gate.unanswered")
def test_an_unanswered_question_is_over(machine: Workshop) -> None:
    """Nobody's answer is a no, and a yes that comes later lets nothing through."""
    machine.policy(IMPATIENT)
    ada = machine.agent()

    late = ada.wrong("execute_command", **TOUCH)

    assert set(late) == TOLD | {"approval_id"}
    assert (late["code"], late["decision"]) == ("needs_approval", "ask")
    with pytest.raises(HubRefused):
        machine.person().post(f"/approvals/{late['approval_id']}/approve")
    assert not (machine.root / "made").exists()


AMISS: list[tuple[str, dict[str, Any], str, str]] = [
    ("connect", {"operation": "workspace_use"}, "invalid", "workspace is missing: workspace_list names"),
    ("connect", {"operation": "key_set"}, "invalid", "key is missing: give the API key to keep"),
    ("connect", {"operation": "exec", "hostname": "localhost"}, "invalid", "command is missing: exec needs"),
    ("connect", {"operation": "exec", "command": "id"}, "invalid", "hostname is missing: exec needs"),
    ("ask_agents", {"hostnames": [f"m{each}" for each in range(101)], "prompt": "x"}, "invalid", "hostnames: at most"),
    ("ask_agent", {"hostname": "localhost", "prompt": "x"}, "failed", "no agent is configured on this machine"),
    ("delegate_task", {"prompt": "x"}, "failed", "no agent is configured on this machine"),
    ("skill_run", {"name": "no-such", "prompt": "x"}, "not_found", "there is no skill 'no-such'"),
    ("ssh_session", {"operation": "open"}, "invalid", "hostname is missing: open needs it"),
    ("ssh_session", {"operation": "read", "session_id": "x"}, "not_found", "no shell 'x' of yours is open"),
    ("read_file", {"path": "a", "start": 3, "end": 2}, "invalid", "start is not behind end"),
    ("write_file", {"path": "a/", "content": ""}, "invalid", "path ends in a slash"),
    ("download_file", {"url": "https://example.org/a", "dest": "a/"}, "invalid", "dest ends in a slash"),
    ("issue_create", {"title": " "}, "invalid", "title: must say something"),
    ("issue_update", {"id": "1"}, "invalid", "nothing to change: give body, status or assignee"),
]  # fmt: skip


def test_nobody_is_asked_about_an_agent_that_is_not_there(machine: Workshop) -> None:
    """A machine without an agent says so at once among the answers of `ask_agents`, as it does when asked alone."""
    machine.policy(f"{IMPATIENT}\nrules.ask = ['ask_agents']")

    for hosts in (["localhost"], ["moon", "localhost"]):
        answer = machine.agent().ask_agents(hostnames=hosts, prompt="x")

        entry = answer["by_host"]["localhost"]
        assert (entry["code"], answer["timed_out"]) == ("failed", [])
        assert "no agent is configured on this machine" in entry["error"]
    assert machine.person().get("/approvals", status="pending")["approvals"] == []


@pytest.mark.parametrize(("tool", "arguments", "code", "sentence"), AMISS)
def test_nobody_is_asked_about_what_can_only_fail(
    machine: Workshop, tool: str, arguments: dict[str, Any], code: str, sentence: str
) -> None:
    """A wrong call is refused at once where that can be known before anything is done or looked at."""
    machine.policy(f"{IMPATIENT}\nrules.ask = ['{tool}']")

    before = {each["id"] for each in machine.person().get("/approvals")["approvals"]}

    wrong = machine.agent().wrong(tool, **arguments)

    assert wrong["code"] == code
    assert sentence in wrong["error"]
    assert {each["id"] for each in machine.person().get("/approvals")["approvals"]} == before


@requires("gate.agent")
def test_no_agent_answers(machine: Workshop) -> None:
    """An agent's token cannot answer, whatever its role; not its own question, and not another's."""
    machine.policy(f"approval_timeout = {patience()}")
    ada = machine.agent()
    refused: list[str] = []

    def try_to(approval_id: str) -> None:
        for caller in (ada, machine.agent("bob"), machine.admin()):
            rest = Rest(machine.hub.url, caller.secret)
            for verb in ("approve", "deny"):
                try:
                    rest.post(f"/approvals/{approval_id}/{verb}")
                except HubRefused as error:
                    refused.append(error.code)
            rest.close()

    with machine.answering(try_to, "deny"):
        ada.wrong("execute_command", **TOUCH)

    assert len(refused) == 6
    assert set(refused) <= {"forbidden", "not_found"}


@requires("gate.never_asks")
@pytest.mark.parametrize("mode", ["default", "bypass", "strict"])
def test_some_calls_never_ask(machine: Workshop, mode: str) -> None:
    """Looking at one's own tasks, at the rules and at the machines asks nobody, in any mode."""
    machine.policy(f'mode = "{mode}"\n{IMPATIENT}')
    ada = machine.agent()

    ada.shell_tasks()
    ada.permissions_helper(operation="show_policy")
    for operation in ("list", "whoami", "workspace_list"):
        ada.connect(operation=operation)
    assert refusal(ada.wrong("task_status", task_id="99")) == "not_found"


@requires("gate.audit")
def test_each_call_is_written_down_before_it_is_done(own_machine: Workshop) -> None:
    """The log has what was decided and then what came of it; without a log nothing is done."""
    own_machine.policy(BYPASS)
    ada = own_machine.agent()
    ada.execute_command(**TOUCH)
    ada.issue_list()
    ada.wrong("read_file", path="no such")

    lines = own_machine.audit()

    assert [(line.get("tool"), line.get("decision"), line.get("result")) for line in lines] == [
        ("execute_command", "allow", None), (None, None, "ok"),
        ("issue_list", "allow", None), (None, None, "ok"),
        ("read_file", "allow", None), (None, None, "not_found"),
    ]  # fmt: skip
    assert lines[0]["target"] == "touch made"
    assert {line["who"] for line in lines} == {"default/ada"}

    (own_machine.root / "made").unlink()
    log = own_machine.data / "audit.jsonl"
    log.unlink()
    log.mkdir()
    assert refusal(ada.wrong("execute_command", **TOUCH)) == "failed"
    assert not (own_machine.root / "made").exists()


@requires("gate.redacted")
def test_secrets_are_in_no_output(machine: Workshop) -> None:
    """Tokens and keys are taken out of whatever a tool answers, and out of the log."""
    machine.policy(BYPASS)
    ada = machine.agent()
    (machine.root / "notes").write_text(f"token: {ada.secret}\nmine: {machine.hub.owner_secret}\n")

    read = ada.read_file(path="notes")["content"]
    ran = ada.execute_command(command=f"cat notes; echo {ada.secret}")["stdout"]

    for text in (read, ran, str(machine.audit())):
        assert ada.secret not in text
        assert machine.hub.owner_secret not in text
    assert "[redacted]" in read


def test_secrets_are_in_no_long_output(machine: Workshop) -> None:
    """A thread takes them out of an answer that is too long to be read on the event loop."""
    machine.policy(BYPASS)
    ada = machine.agent()
    (machine.root / "long").write_text(f"token: {ada.secret}\n" * (SOME + 1))

    found = ada.grep(pattern="token", path="long")

    assert [each["text"] for each in found] == ["token: [redacted]"] * (SOME + 1)


@requires(
    "permissions_helper.explain", "permissions_helper.show_policy", "permissions_helper.show_audit_context"
)
def test_the_gate_explains_itself(machine: Workshop) -> None:
    """An agent may know what would be decided, by which rules, and what was decided last."""
    machine.policy("", '[rules]\ndeny = ["execute_command(shred *)"]')
    ada = machine.agent()

    told = ada.permissions_helper(operation="explain", tool="execute_command", args={"command": "shred a"})
    assert (told["decision"], told["source"], told["rule_id"]) == ("deny", "rule", "execute_command(shred *)")
    shown = ada.permissions_helper(operation="show_policy")
    assert (shown["mode"], shown["rules"]["deny"]) == ("default", ["execute_command(shred *)"])
    last = ada.permissions_helper(operation="show_audit_context")["decisions"]
    assert any(each["tool"] == "permissions_helper" for each in last)


@requires("permissions_helper.suggest_rule", "permissions_helper.no_grant")
def test_a_suggested_rule_holds_once_a_person_says_so(own_machine: Workshop) -> None:
    """A suggestion is answered at once and changes nothing; a person's yes makes it a rule."""
    own_machine.policy(IMPATIENT)
    ada, rule = own_machine.agent(), "execute_command(touch *)"

    told = ada.permissions_helper(operation="suggest_rule", rule=rule, effect="allow", reason="often needed")

    assert told == {"approval_id": told["approval_id"], "status": "pending"}
    assert refusal_code(ada.wrong("execute_command", **TOUCH)) == "needs_approval"
    person = own_machine.person()
    with own_machine.hearing("approval.spent") as spent:
        person.post(f"/approvals/{told['approval_id']}/approve")
        spent.next()
    until(  # the file is written a moment after the yes is spent
        lambda: rule in ada.permissions_helper(operation="show_policy")["rules"]["allow"], "the rule"
    )
    assert ada.execute_command(**TOUCH)["exit_code"] == 0


@requires("gate.once")
def test_a_call_with_a_key_is_done_once(machine: Workshop) -> None:
    """Repeated with its idempotency key a command is not run again; what was not done may be tried again."""
    machine.policy(BYPASS)
    ada, count = machine.agent(), machine.root / "count"
    keyed = Agent(ada.url, ada.secret, {"Idempotency-Key": "k1"})
    command = {"command": "echo x >> count; sleep 0.2; wc -l < count"}

    answers: list[Any] = []
    calls = [
        threading.Thread(target=lambda: answers.append(keyed.execute_command(**command))) for _ in range(3)
    ]
    for each in calls:
        each.start()
    for each in calls:
        each.join()
    answers.append(keyed.execute_command(**command))

    assert count.read_text() == "x\n"
    assert [each["stdout"] for each in answers] == ["1\n"] * 4
    other = keyed.wrong("execute_command", command="true")
    assert refusal(other) == "failed"
    assert "was used for another call" in other["error"]

    again = Agent(ada.url, ada.secret, {"Idempotency-Key": "k2"})
    machine.policy(IMPATIENT)
    assert refusal_code(again.wrong("execute_command", **TOUCH)) == "needs_approval"
    machine.policy(BYPASS)
    assert again.execute_command(**TOUCH)["exit_code"] == 0


def test_a_late_attempt_at_a_command_is_not_run_after_a_refusal(own_machine: Workshop) -> None:
    """An attempt that comes late is told the refusal of a later one, and runs nothing on the hub's own machine."""
    ada = own_machine.agent()

    def attempt(number: int) -> Agent:
        headers = {"Idempotency-Key": "k", "Idempotency-Attempt": str(number)}
        return Agent(ada.url, ada.secret, headers)

    own_machine.policy(IMPATIENT)
    refused = attempt(2).wrong("execute_command", **TOUCH)
    assert refusal_code(refused) == "needs_approval"
    own_machine.policy(BYPASS)

    assert attempt(1).wrong("execute_command", **TOUCH) == refused
    assert not (own_machine.root / "made").exists()
    assert attempt(3).execute_command(**TOUCH)["exit_code"] == 0
    assert (own_machine.root / "made").exists()


def test_a_call_that_nobody_knows_the_end_of_is_not_repeated(own_machine: Workshop) -> None:
    """If the hub died while a command ran, the same key gets no second run but the sentence that nobody knows."""
    own_machine.policy(BYPASS)
    ada = own_machine.agent()
    own_machine.forget_end(ada, "k", "execute_command", TOUCH)

    refused = Agent(ada.url, ada.secret, {"Idempotency-Key": "k"}).wrong("execute_command", **TOUCH)

    assert refusal(refused) == "failed"
    assert "not known how it ended" in refused["error"]
    assert not (own_machine.root / "made").exists()


def refusal_code(answer: dict[str, Any]) -> str:
    """The code of a refusal that says more than that."""
    return str(answer["code"])


def test_what_a_person_saw_is_what_is_done(machine: Workshop) -> None:
    """If a path leads elsewhere by the time they say yes, nothing is written, there or here."""
    machine.policy(f"approval_timeout = {patience()}")
    ada, way = machine.agent(), machine.root / "way"
    for name in ("one", "two", ".git"):
        (machine.root / name).mkdir()

    for target, code in (("two", "needs_approval"), (".git", "denied")):
        way.symlink_to("one")

        def swap(_approval_id: str, target: str = target) -> None:
            way.unlink()
            way.symlink_to(target)

        with machine.answering(swap, "approve"):
            refused = ada.wrong("write_file", path="way/a", content="x")
        assert refused["code"] == code
        way.unlink()
    assert not list(machine.root.glob("*/a"))
    assert not (machine.root / ".git" / "a").exists()
