"""Permission prompts of a client, from outside: the hook as the client runs it, and the people of a hub that answer."""

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hubbub.clients.hook import permission_prompts
from hubbub.clients.hook.adapters import claude_code
from hubbub.clients.hook.event import ALLOW, Event, Reply
from hubbub.clients.hook.hub_target import Target
from hubbub.core.fleet import approvals
from hubbub.model.errors import Conflict
from hubbub.model.fleet.approvals import Approval, ApprovalStatus
from hubbub.model.fleet.calls import QuestionKind
from tests.clients.hook.hook_workbench import PATIENT, Answer, Editor, Workbench
from tests.serve.served_hub import Hub
from tests.support.waiting import patience, until

S = ApprovalStatus
PUSH = "git push"


@pytest.fixture
def ada(bench: Workbench, tmp_path: Path) -> Editor:
    return bench.editor("ada", tmp_path)


@pytest.fixture
def people(hub: Hub) -> Iterator["People"]:
    with ThreadPoolExecutor(2) as threads:
        yield People(hub, threads)


class People:
    """The people of the hub, and the prompts that they see."""

    def __init__(self, hub: Hub, threads: ThreadPoolExecutor) -> None:
        self.hub, self._threads = hub, threads
        self._known = {each.id for each in self.questions()}

    def questions(self) -> list[Approval]:
        found: list[Approval] = self.hub.do(
            lambda tx: approvals.search(tx, [self.hub.project.id]), self.hub.owner
        )
        return found

    def asked(self) -> Approval:
        """The question that comes next."""
        [asked] = until(
            lambda: [each for each in self.questions() if each.id not in self._known], "a question"
        )
        return asked

    def prompted(self, editor: Editor, name: str = "Bash", **given: object) -> Future[Answer]:
        """The client's prompt, whose hook goes on until it is answered."""
        return self._threads.submit(editor.tool, "PermissionRequest", name, **given)

    def answer(self, approval: Approval, *, approved: bool) -> None:
        self.hub.do(lambda tx: approvals.answer(tx, str(approval.id), approved=approved), self.hub.owner)

    def status(self, approval: Approval) -> ApprovalStatus:
        return next(each.status for each in self.questions() if each.id == approval.id)


def read(**given: object) -> Event:
    """One prompt, as the hook understands it."""
    told = {"session_id": "run-1", "cwd": "/srv/shop", "tool_name": "Bash", "tool_input": given}
    event = claude_code.read("PermissionRequest", told)
    assert event is not None
    event.call = json.dumps(["Bash", given], sort_keys=True)
    return event


def test_a_prompt_is_answered_by_a_person_at_the_hub(people: People, ada: Editor) -> None:
    """A person sees who asks, what, where and why the agent wants it; their yes is the client's, once."""
    waiting = people.prompted(ada, command=PUSH, description="Publish the branch")
    asked = people.asked()

    assert (asked.kind, asked.who, asked.tool, asked.shown) == (QuestionKind.PROMPT, "ada", "Bash", PUSH)
    assert (asked.folder, asked.said_node is not None) == (str(ada.folder), True)
    assert "Publish the branch" in asked.reason

    people.answer(asked, approved=True)
    heard = waiting.result(patience()).specific
    assert heard == {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    assert people.status(asked) is S.SPENT


def test_a_no_at_the_hub_says_whose_it_is(people: People, ada: Editor) -> None:
    """The model reads that a person said no, and who."""
    waiting = people.prompted(ada, command=PUSH)
    people.answer(people.asked(), approved=False)

    decision = waiting.result(patience()).specific["decision"]
    assert decision == {"behavior": "deny", "message": "owner said no to this, at the hub"}


def test_a_prompt_answered_at_the_client_is_withdrawn(people: People, ada: Editor) -> None:
    """When the tool has run, as somebody said yes at the terminal, nobody is asked any more; who is late hears so."""
    waiting = people.prompted(ada, command=PUSH)
    asked = people.asked()
    assert ada.tool("PostToolUse", "Bash", command="ls").is_silent
    assert people.status(asked) is S.PENDING

    ada.tool("PostToolUse", "Bash", command=PUSH)
    assert waiting.result(patience()).is_silent
    assert people.status(asked) is S.WITHDRAWN
    with pytest.raises(Conflict, match="it was answered at the client"):
        people.answer(asked, approved=True)


def test_a_client_that_ends_its_hook_has_the_question_withdrawn(people: People, ada: Editor) -> None:
    """A prompt that is escaped at the terminal ends the hook, and the question with it."""
    told = {
        "session_id": "run-1",
        "cwd": str(ada.folder),
        "tool_name": "Bash",
        "tool_input": {"command": PUSH},
    }
    command = [*PATIENT, "claude-code", "PermissionRequest"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=ada.environment) as hook:
        assert hook.stdin is not None
        hook.stdin.write(json.dumps(told).encode())
        hook.stdin.close()
        asked = people.asked()
        hook.terminate()
        assert hook.wait(patience()) == 0
    assert people.status(asked) is S.WITHDRAWN


@pytest.mark.parametrize("seconds", ["0", "1"])
def test_without_an_answer_the_client_asks_as_ever(people: People, ada: Editor, seconds: str) -> None:
    """When nobody answers in time, or is not to be asked, the hook says nothing."""
    ada.environment["HUBBUB_PROMPT_SECONDS"] = seconds
    assert people.prompted(ada, command=PUSH).result(patience()).is_silent
    assert {each.status for each in people.questions()} & {S.PENDING} == set()


def test_a_changed_call_is_another_question() -> None:
    """A yes holds for one call, one folder and one agent: every part changes its digest."""
    hub = Target(url="http://127.0.0.1:1", token="t", agent="ada")
    calls: list[dict[str, Any]] = [
        {"command": PUSH},
        {"command": PUSH + " --force"},
        {"command": PUSH, "run_in_background": True},
    ]
    made = [permission_prompts._question(hub, read(**each)) for each in calls]
    elsewhere = read(**calls[0])
    elsewhere.cwd = "/srv/other"
    made.append(permission_prompts._question(hub, elsewhere))

    digests = {each["digest"] for each in made if each is not None}
    assert len(digests) == len(calls) + 1
    shown = [each["shown"] for each in made if each is not None]
    assert shown[2] == 'git push  {"run_in_background": true}'


def test_what_cannot_be_shown_whole_is_not_asked(people: People, ada: Editor) -> None:
    """A call longer than people can be shown, and a tool that is itself a talk with the person, stay at the client."""
    long = people.prompted(ada, command="echo " + "x" * permission_prompts.LARGEST)
    talk = people.prompted(ada, "AskUserQuestion", questions=["Which?"])
    before = len(people.questions())

    assert long.result(patience()).is_silent
    assert talk.result(patience()).is_silent
    assert len(people.questions()) == before


def test_an_answer_to_another_call_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A yes that a hub brings for anything but the call that was shown leaves the client's prompt as it is."""
    monkeypatch.setenv("HUBBUB_DATA", str(tmp_path))
    told = read(command=PUSH)
    question = permission_prompts._question(Target(url="http://x", token="t", agent="ada"), told)
    assert question is not None

    def replied(**value: object) -> Reply:
        prompt = permission_prompts._Prompt(Target(url="http://x", token="t", agent="ada"), told, question, 1)
        right = {"approval_id": prompt._id, "digest": question["digest"], "ruling": "approved"}
        return prompt._reply({**right, **value})

    assert replied().decision == "grant"
    for wrong in ({"digest": "0" * 64}, {"approval_id": "another"}, {"ruling": "expired"}, {"ruling": True}):
        assert replied(**wrong).decision == ALLOW


def test_a_hub_that_is_away_holds_nobody_up(ada: Editor) -> None:
    """Without a hub the hook ends by itself, long before people's time is over."""
    ada.environment["HUBBUB_URL"] = "http://127.0.0.1:1"
    assert ada.tool("PermissionRequest", "Bash", command=PUSH).is_silent
    assert not [each for each in Path(ada.environment["HUBBUB_DATA"]).rglob("*") if each.is_file()]
