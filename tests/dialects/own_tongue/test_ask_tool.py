"""`ask`: a machine's shell and its agent, past its gate."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.dialects.cmdop.workshop import Agent, Workshop, workshop
from tests.dialects.own_tongue.requirements import requires
from tests.dialects.own_tongue.team import Team
from tests.dialects.running_hub import Json

ECHO = '[runtime]\nkind = "command"\ncommand = ["cat"]'


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A hub with a machine of its own, whose agent says what it was told."""
    with workshop(tmp_path_factory.mktemp("machine")) as made:
        made.policy('mode = "bypass"', ECHO)
        yield made


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A hub with a machine of its own, where a person is asked about what is no mere looking."""
    with workshop(tmp_path_factory.mktemp("asking")) as made:
        yield made


def _ask(agent: Agent, **said: object) -> Json:
    answer, is_error = agent.ask("ask", said)
    assert not is_error, answer
    return answer


def _agent(machine: Workshop, name: str = "ember") -> Agent:
    return replace(machine.agent(name), path="/mcp")


def _named(machine: Workshop, secret: str, name: str) -> Agent:
    """Return an agent whose token is bound to nobody, and which gives its name with each call."""
    return Agent(machine.hub.url, secret, {"X-Hubbub-Agent": name}, path="/mcp")


@requires("ask.machines")
def test_which_machines_there_are(machine: Workshop) -> None:
    """A caller who asks nothing is told what can be asked: the hub's own machine among others, and its agent."""
    (row,) = _ask(_agent(machine))["machines"]
    assert (row["is_online"], row["agent"]) == (True, "cat")
    assert row["name"]


@requires("ask.command")
def test_a_command(machine: Workshop) -> None:
    """It runs where it is sent, and what it prints and its exit code come back."""
    (machine.root / "note").write_text("hello", "utf-8")
    ran = _ask(_agent(machine), machine=_name(machine), command="cat note; exit 3")
    assert (ran["stdout"], ran["exit_code"]) == ("hello", 3)
    inside = _ask(_agent(machine), machine="localhost", command="pwd", folder=str(machine.root / "."))
    assert inside["stdout"].strip() == str(machine.root)


@requires("ask.prompt")
def test_a_prompt(machine: Workshop) -> None:
    """The agent of the machine works on it, and its words come back."""
    assert (
        "water the plants" in _ask(_agent(machine), machine=_name(machine), prompt="water the plants")["text"]
    )


@requires("ask.once")
def test_a_key_has_it_done_once(machine: Workshop) -> None:
    """The same call with its key runs nothing again; another with that key is a conflict."""
    agent, said = _agent(machine), {"machine": _name(machine), "command": "echo x >> once; wc -l < once"}
    first = _ask(agent, key="k", **said)
    assert first["stdout"].strip() == "1"
    assert _ask(agent, key="k", **said) == first
    answer, is_error = agent.ask("ask", {**said, "command": "ls", "key": "k"})
    assert (is_error, answer["error"]) == (True, "conflict")


@requires("ask.command")
def test_the_gate_decides(tmp_path: Path) -> None:
    """A call denied by the machine's policy is not done, and the gate says why; one that takes too long is ended."""
    with workshop(tmp_path) as machine:
        machine.policy('mode = "bypass"', '[rules]\ndeny = ["Bash(touch *)"]')
        answer, is_error = _agent(machine).ask("ask", {"machine": _name(machine), "command": "touch x"})
        assert (is_error, answer["error"]) == (True, "denied")
        assert answer["message"]
        assert not (machine.root / "x").exists()
        slow = {"machine": _name(machine), "command": "echo a; sleep 60", "timeout": 1}
        answer, is_error = _agent(machine).ask("ask", slow)
        assert (is_error, answer["error"]) == (True, "timeout")


@requires("ask.patience")
@pytest.mark.parametrize(
    ("policy", "timeout", "seconds"), [("", 1, "1 s"), ('approval_timeout = "50ms"', 600, "0.05 s")]
)
def test_nobody_answers(asking: Workshop, policy: str, timeout: int, seconds: str) -> None:
    """A person has as long as the call's timeout says, and as the machine's policy lets them; then it is refused."""
    asking.policy(policy)
    said = {"machine": "localhost", "command": "touch made", "timeout": timeout}
    answer, is_error = _agent(asking).ask("ask", said)
    assert (is_error, answer["error"]) == (True, "needs_approval")
    assert f"no person answered within {seconds};" in answer["message"]
    assert asking.person().get(f"/approvals/{answer['approval_id']}")["approval"]["status"] == "expired"
    assert not (asking.root / "made").exists()


@requires("ask.patience")
def test_a_person_lets_it_through(asking: Workshop) -> None:
    """A call that a person approves in that time is done."""
    asking.policy("")
    with asking.answering("approve"):
        ran = _ask(_agent(asking), machine="localhost", command="touch yes", timeout=20)
    assert ran["exit_code"] == 0
    assert (asking.root / "yes").exists()


@requires("ask.no_agent")
def test_a_machine_without_an_agent(asking: Workshop) -> None:
    """A prompt for it is refused at once, with what is missing, and nobody is asked for permission."""
    asking.policy("")
    before = _questions(asking)
    answer, is_error = _agent(asking).ask("ask", {"machine": "localhost", "prompt": "hi"})
    assert (is_error, answer["error"]) == (True, "failed")
    assert answer["message"].startswith("no agent is configured on this machine")
    assert _questions(asking) == before


@requires("all.unread")
def test_mail_is_counted_here_too(machine: Workshop) -> None:
    """A machine's answer comes with the number of unread letters, by whatever way the caller is known."""
    sender, shared = _agent(machine, "lead"), machine.hub.token()
    for name, caller in (("fern", _agent(machine, "fern")), ("moss", _named(machine, shared, "moss"))):
        caller.ask("join", {})
        sender.ask("send", {"to": name, "text": "look"})
        assert _ask(caller, machine="localhost", command="true")["unread"] == 1
        assert _ask(caller, machine="localhost", command="true", key=name)["unread"] == 1


@requires("all.key", "ask.once")
def test_agents_that_share_a_token_have_keys_of_their_own(machine: Workshop) -> None:
    """A key is its agent's: another that chose the same has its own call done."""
    shared, said = (
        machine.hub.token(),
        {"machine": "localhost", "command": "echo x >> shared; wc -l < shared"},
    )
    for name, lines in (("ash", "1"), ("oak", "2"), ("ash", "1")):
        assert _ask(_named(machine, shared, name), key="same", **said)["stdout"].strip() == lines


@requires("ask.offline")
def test_a_machine_that_is_not_there(anywhere: Team) -> None:
    """It is refused at once, and says where the names are."""
    answer, is_error = anywhere.joined("ember").ask("ask", {"machine": "web1", "command": "ls"})
    assert is_error
    assert answer == {
        "error": "offline",
        "message": "the machine 'web1' is not connected; ask without arguments names those that are",
    }


@requires("ask.arguments")
@pytest.mark.parametrize(
    "said",
    [
        {"command": "ls"},
        {"prompt": "hi"},
        {"machine": "web1"},
        {"machine": "web1", "prompt": "hi", "command": "ls"},
    ],
)
def test_half_a_question(anywhere: Team, said: Json) -> None:
    """A machine and one of the two are needed."""
    answer, is_error = anywhere.joined("ember").ask("ask", said)
    assert (is_error, answer["error"]) == (True, "invalid")


def _questions(machine: Workshop) -> list[str]:
    """The ids of all that people were asked."""
    return [each["id"] for each in machine.person().get("/approvals")["approvals"]]


def _name(machine: Workshop) -> str:
    """The name of the hub's own machine, as it is told."""
    return str(_ask(_agent(machine))["machines"][0]["name"])
