"""Hooks before and after tasks: real commands, run by a real `hubbub mcp relay`."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from anyio.from_thread import start_blocking_portal

from hubbub.bridge.companions import hook_runner as hooked_module
from hubbub.bridge.companions.companion import Ask
from hubbub.bridge.companions.hook_runner import HookRunner
from hubbub.bridge.companions.tool_calls import ClientCall, reply_of
from hubbub.bridge.messages.json_rpc import Message
from hubbub.client import Hub, HubRefused
from hubbub.core.people import users
from hubbub.model.people.rights import SYSTEM
from hubbub.node.gate.hook_trust import trust
from hubbub.settings import Settings
from hubbub.store.engine.sqlite import SQLite
from hubbub.workspace import teams
from hubbub.workspace.locations import Workspace
from tests.cli.processes import RunningHub, ends
from tests.cli.relay_team import RUN, Agent, Json, Team, pool
from tests.cli.stdio_peers import LEGACY
from tests.dialects.running_hub import Place, StillClock, running_hub

# Says that it runs, with its process id, and goes on when it is told with which exit code to end.
PAUSED = "echo ran >> runs; echo $$ > begun; read code < go; exit $code"


class Paused:
    """A hook that waits until the test lets it end."""

    def __init__(self, team: Team) -> None:
        self.begun, self.go, self.runs = team.pipe("begun"), team.pipe("go"), team.root / "runs"

    def wait(self) -> int:
        """Wait until it runs; its process id."""
        return int(self.begun.read_text())

    def end(self, code: int = 0) -> None:
        self.go.write_text(f"{code}\n")

    @property
    def times(self) -> int:
        """The number of its runs."""
        return self.runs.read_text().count("ran")


@pytest.fixture
def paused(team: Team) -> Paused:
    """The after-hook of the agent fe."""
    team.hooks(after_task=PAUSED)
    return Paused(team)


@dataclass
class StillTeam(Team):
    """A team at a hub in which no time passes but what a test lets pass, and that tells who waits."""

    place: Place | None = None

    def agent(self, name: str, *arguments: str, run: str = RUN, **environment: str) -> Agent:
        agent = super().agent(name, *arguments, run=run, **environment)
        self.until_one_waits()  # for news of its files
        return agent

    def until_one_waits(self) -> None:
        """Wait until one more than before waits for something to happen in the hub."""
        assert self.place is not None
        self.place.hub.followers.wait_for_one()

    def later(self, **duration: float) -> None:
        assert self.place is not None
        self.place.later(**duration)


@pytest.fixture
def still(tmp_path: Path) -> Iterator[StillTeam]:
    clock = StillClock()
    with (
        closing(SQLite.open(tmp_path / "hub", clock=clock)) as store,
        start_blocking_portal() as portal,
        running_hub(store, clock, Settings(data=tmp_path), portal) as hub,
        Place.fresh(hub) as place,
    ):
        owner = Hub(hub.url, store.write_now(SYSTEM, users.owner_token), project=place.project.slug)
        outside = RunningHub(
            tmp_path / "data", urlsplit(hub.url).port or 0, place.project.slug, _client=owner
        )
        there = {"HUBBUB_URL": hub.url, "HUBBUB_TOKEN": place.token()}
        with closing(owner), StillTeam.at(outside, tmp_path / "work", **there) as team:
            team.place = place
            yield team


def claimed(agent: Agent) -> str:
    """A task that the agent holds; its id."""
    task_id = agent.task()
    assert agent.does("claim_task", task_id=task_id)["claimed"] is True
    return task_id


def done(agent: Agent, task_id: str) -> Json:
    return agent.does("update_task", task_id=task_id, status="done")


def what_failed(code: int, hook: str = "after_task") -> Json:
    """The reply about the paused hook, when it was told to fail."""
    return {
        "success": False,
        "error": f"{hook} hook failed: exit code {code}, {PAUSED!r}",
        "hook_failed": True,
    }


@pytest.mark.parametrize("hook", ["before_task", "after_task"])
def test_where_a_hook_runs(team: Team, hook: str) -> None:
    """A hook runs in a shell at the root of the project, and is told the agent, the task and the run."""
    told = 'printf "%s|" "$RELAY_AGENT_ID" "$RELAY_TASK_ID" "$RELAY_SESSION_ID" "$PWD" > told'
    team.hooks(**{hook: told})
    agent = team.agent("fe", RELAY_PROJECT_ROOT=str(team.root))
    task_id = claimed(agent)
    assert done(agent, task_id) == {"success": True}
    seen = (team.root / "told").read_text()
    assert seen == f"fe|{task_id}|{RUN}|{team.root.resolve()}|"


def test_before_hook_that_fails(team: Team) -> None:
    """A before-hook that fails leaves the task unclaimed, with the reason."""
    team.hooks(before_task=["echo first >> order", "echo not today; exit 3", "echo third >> order"])
    agent = team.agent("fe")
    task_id = agent.task()
    assert agent.does("claim_task", task_id=task_id) == {
        "success": True,
        "claimed": False,
        "reason": "before_task hook failed: exit code 3, 'echo not today; exit 3': not today",
    }
    row = agent.row(task_id)
    assert (row["status"], row["assignee"]) == ("todo", None)
    assert (team.root / "order").read_text() == "first\n"


@pytest.mark.parametrize("hook", ["before_task", "after_task"])
def test_hook_that_the_floor_denies(team: Team, hook: str) -> None:
    """The floor of the machine's gate judges hooks too: one that it denies is not run, and nobody is asked about it."""
    team.hooks(**{hook: "echo KEY=1 > .env"})
    agent = team.agent("fe")
    task_id = agent.task()
    answer = agent.does("claim_task", task_id=task_id)
    if hook == "after_task":
        answer = done(agent, task_id)

    said = str(answer.get("reason") or answer.get("error"))
    assert said.startswith(f"{hook} hook failed: the gate denies it by F4: ")
    assert said.endswith("'echo KEY=1 > .env'")
    assert not (team.root / ".env").exists()


def asks_for(team: Team, seconds: float) -> dict[str, str]:
    """Return the environment of a machine whose questions wait that long for people."""
    config = team.root.parent / "config"
    config.mkdir()
    policy = config / "node.toml"
    policy.write_text(f"approval_timeout = {seconds}")
    policy.chmod(0o600)
    return {"HUBBUB_CONFIG": str(config)}


@pytest.mark.parametrize("hook", ["before_task", "after_task"])
def test_hook_that_nobody_has_seen(team: Team, hook: str) -> None:
    """A hook that came with a project does not run before a person has seen it, once, and again when it has changed."""
    file = team.relay_folder / "agents.pool.yml"
    agent = team.agent("fe", **asks_for(team, 0.1))

    def tried(command: str) -> Json:
        file.write_text(pool(fe={"hooks": {hook: command}}))
        task_id = agent.task()
        answer = agent.does("claim_task", task_id=task_id)
        return answer if hook == "before_task" else done(agent, task_id)

    for marker in ("first", "second"):
        refused = tried(f"touch {marker}")
        said = str(refused.get("reason") or refused.get("error"))
        assert said.startswith(f"{hook} hook failed: no person has seen it yet")
        assert "`hubbub trust`" in said
        assert (refused.get("claimed", False), refused.get("hook_failed", True)) == (False, True)
        assert not (team.root / marker).exists()

        team.trust()
        assert "hook failed" not in str(tried(f"touch {marker}"))
        assert (team.root / marker).exists()


def test_people_are_asked_about_a_hook_that_nobody_has_seen(team: Team) -> None:
    """A person far away sees the whole hook and says yes, once; by a no it does not run."""
    file = team.relay_folder / "agents.pool.yml"
    agent, people = team.agent("fe", **asks_for(team, 30)), team.hub.client()

    def asked(command: str, answer: str) -> Json:
        file.write_text(pool(fe={"hooks": {"before_task": command}}))
        claim = agent.soon("claim_task", task_id=agent.task())
        approval = people.get(f"/approvals/{next(questions)['detail']['approval_id']}")["approval"]
        assert (approval["shown"], approval["folder"]) == (command, str(team.root.resolve()))
        people.post(f"/approvals/{approval['id']}/{answer}")
        return agent.reply(claim)

    questions = (team.hub.until("approval.asked", times=times) for times in range(1, 3))
    assert asked("touch denied", "deny")["claimed"] is False
    assert asked("touch allowed", "approve")["claimed"] is True
    assert agent.does("claim_task", task_id=agent.task())["claimed"] is True
    assert [(team.root / name).exists() for name in ("denied", "allowed")] == [False, True]


def test_before_hook_that_passes(team: Team) -> None:
    """When the before-hook of the claimer has passed, the task is claimed; nobody else's hook is run."""
    team.pool(
        fe={"hooks": {"before_task": "echo fe >> ran"}}, be={"hooks": {"before_task": "echo be >> ran"}}
    )
    agent = team.agent("fe")
    task_id = agent.task(assignee="fe")
    assert agent.does("claim_task", task_id=task_id) == {"success": True, "claimed": True}
    assert agent.row(task_id)["status"] == "in_progress"
    assert (team.root / "ran").read_text() == "fe\n"


def test_no_hook_for_what_cannot_be_claimed(team: Team) -> None:
    """A task that cannot be claimed is refused before any hook is run."""
    team.hooks(before_task="echo ran >> ran")
    agent = team.agent("fe")
    unmet = agent.task(depends_on=[agent.task()])
    theirs = agent.task(assignee="be")
    assert "Unmet dependencies" in agent.does("claim_task", task_id=unmet)["reason"]
    assert agent.does("claim_task", task_id=theirs)["reason"] == "task is assigned to be"
    assert agent.does("claim_task", task_id="nothing")["reason"] == "task not found"
    assert not (team.root / "ran").exists()


def test_dependencies_are_looked_at_again(team: Team) -> None:
    """A task's dependencies are checked again after the before-hook, which may have taken its time."""
    team.hooks(before_task=PAUSED)
    hook, agent = Paused(team), team.agent("fe")
    need = agent.task(assignee="lead")
    task_id = agent.task(depends_on=[need])
    lead = team.agent("lead")
    lead.does("update_task", task_id=need, status="done")
    claim = agent.soon("claim_task", task_id=task_id)
    hook.wait()
    lead.does("update_task", task_id=need, status="todo")
    hook.end()
    assert agent.reply(claim)["reason"] == f"Unmet dependencies: {need}"


def test_after_hook_that_fails(team: Team) -> None:
    """A task whose after-hook fails is in_review, and the reply says so."""
    team.hooks(after_task="echo broken >&2; exit 2")
    agent = team.agent("fe")
    task_id = claimed(agent)
    assert done(agent, task_id) == {
        "success": False,
        "hook_failed": True,
        "error": "after_task hook failed: exit code 2, 'echo broken >&2; exit 2': broken",
    }
    assert agent.row(task_id)["status"] == "in_review"


def test_after_hook_of_the_holder(team: Team) -> None:
    """The after-hook is that of the task's assignee, whoever says that it is done; the caller's if there is none."""
    team.pool(
        fe={"hooks": {"after_task": "echo $RELAY_AGENT_ID >> ran"}},
        lead={"hooks": {"after_task": "echo $RELAY_AGENT_ID >> ran"}},
    )
    lead = team.agent("lead")
    assert done(lead, lead.task(assignee="fe")) == {"success": True}
    assert done(lead, lead.task()) == {"success": True}
    assert (team.root / "ran").read_text() == "fe\nlead\n"


def test_output_is_cut(team: Team) -> None:
    """The first 2,000 characters of a hook's output are reported."""
    team.hooks(after_task="head -c 5000 /dev/zero | tr '\\0' x; exit 1")
    agent = team.agent("fe")
    error = done(agent, claimed(agent))["error"]
    assert error.count("x" * 2000) == 1
    assert error.endswith("x\n[cut at 2,000 characters]")


def test_a_holder_that_gives_it_away(team: Team) -> None:
    """If one call gives a task away and reports it as done, the hook of the new holder is run."""
    team.pool(be={"hooks": {"after_task": "echo $RELAY_AGENT_ID >> ran"}})
    agent, lead = team.agent("fe"), team.agent("lead")
    task_id = lead.task(assignee="fe")
    assert agent.does("update_task", task_id=task_id, status="done", assignee="be") == {"success": True}
    row = lead.row(task_id)
    assert (row["status"], row["assignee"]) == ("done", "be")
    assert (team.root / "ran").read_text() == "be\n"


@pytest.mark.parametrize(
    ("bridges", "code"),
    [
        (1, 0),
        (2, 5),
        pytest.param(1, 5, marks=pytest.mark.system),
        pytest.param(2, 0, marks=pytest.mark.system),
    ],
)
def test_two_who_say_done(still: StillTeam, bridges: int, code: int) -> None:
    """If two agents complete a task at once, one runs the hook, and both are told its outcome."""
    still.hooks(after_task=PAUSED)
    hook, first = Paused(still), still.agent("fe")
    second = first if bridges == 1 else still.agent("fe")
    task_id = claimed(first)
    one = first.soon("update_task", task_id=task_id, status="done")
    hook.wait()
    other = second.soon("update_task", task_id=task_id, status="done")
    still.until_one_waits()
    hook.end(code)
    outcome = {"success": True} if code == 0 else what_failed(code)
    assert first.reply(one) == second.reply(other) == outcome
    assert first.row(task_id)["status"] == ("done" if code == 0 else "in_review")
    assert hook.times == 1


def test_nobody_completes_it_meanwhile(still: StillTeam) -> None:
    """While the after-hook runs, nobody sees the task done, and no way of completing it gets past the hook."""
    still.hooks(after_task=PAUSED)
    hook, agent, lead = Paused(still), still.agent("fe"), still.agent("lead")
    task_id = lead.task(assignee="fe")
    assert agent.does("claim_task", task_id=task_id)["claimed"] is True
    waiting = agent.soon("update_task", task_id=task_id, status="done")
    hook.wait()
    for tool, said in {
        "report_completion": {"alias": "fe", "task": task_id, "result": "r"},
        "send_reply": {"alias": "lead", "text": "r", "in_reply_to": task_id},
    }.items():
        refused = still.over_http("fe", tool, "commhub", **said)
        assert (refused["ok"], refused["error"]) == (False, "being_checked")
    with pytest.raises(HubRefused, match="try again in a moment") as refusal:
        still.hub.client().step(task_id, "complete", by="fe", result="r")
    assert (refusal.value.status, refusal.value.is_temporary) == (503, True)
    asked = still.soon_over_http("fe", "update_task", task_id=task_id, status="done")
    still.until_one_waits()
    assert lead.row(task_id)["status"] == "in_progress"
    hook.end()
    assert agent.reply(waiting) == asked() == {"success": True}
    assert lead.row(task_id)["status"] == "done"
    assert hook.times == 1


def test_others_may_still_end_it(team: Team, paused: Paused) -> None:
    """A task that is cancelled while its after-hook runs stays so, whatever comes of the hook."""
    agent = team.agent("fe")
    task_id = claimed(agent)
    waiting = agent.soon("update_task", task_id=task_id, status="done")
    paused.wait()
    team.hub.client().step(task_id, "cancel", reason="no longer needed")
    paused.end()
    assert agent.reply(waiting) == {"success": False, "error": "task is cancelled"}


@pytest.mark.system
def test_hub_dies_meanwhile(own_team: Team) -> None:
    """When the hub is killed while an after-hook runs, the hook goes on, and the task is done when the hub is back."""
    own_team.hooks(after_task=PAUSED)
    hook, agent = Paused(own_team), own_team.agent("fe")
    task_id = claimed(agent)
    waiting = agent.soon("update_task", task_id=task_id, status="done")
    hook.wait()
    own_team.hub.stop(signal.SIGKILL)
    own_team.hub.start()
    hook.end()
    assert agent.reply(waiting) == {"success": True}
    assert agent.row(task_id)["status"] == "done"
    assert hook.times == 1


@pytest.mark.parametrize("tool", ["claim_task", "update_task"])
@pytest.mark.parametrize(
    "how",
    [
        "cancelled",
        "signal",
        pytest.param(
            "end of input", marks=pytest.mark.system
        ),  # a bridge gives what is under way five seconds
    ],
)
def test_given_up(team: Team, tool: str, how: str) -> None:
    """When the client cancels the call, or goes, the hook is killed with all it started, and the task stays as it was.

    The next one who wants the same need not wait, and runs the hook anew.
    """
    team.hooks(before_task=PAUSED if tool == "claim_task" else "true", after_task=PAUSED)
    hook, agent, other = Paused(team), team.agent("fe"), team.agent("fe")
    task_id = agent.task() if tool == "claim_task" else claimed(agent)
    before = other.row(task_id)
    wanted = {"task_id": task_id, **({"status": "done"} if tool == "update_task" else {})}
    number = agent.soon(tool, **wanted)
    process = hook.wait()
    if how == "cancelled":
        agent.cancel(number)
    elif how == "signal":
        agent.process.terminate()
    else:
        agent.close()
    assert ends(process)
    if tool == "update_task":
        ended = team.hub.until("check.ended")
        assert (ended["task_id"], ended["detail"]) == (task_id, {"passed": None})
    assert other.row(task_id) == before
    again = other.soon(tool, **wanted)
    hook.wait()
    hook.end()
    assert other.reply(again)["success"] is True
    assert hook.times == 2


@pytest.mark.system
def test_bridge_dies_meanwhile(still: StillTeam) -> None:
    """When the bridge is killed while an after-hook runs, nobody completes the task for as long as its lease lasts.

    A report of its end after that half minute runs the hook anew.
    """
    still.hooks(after_task=PAUSED)
    hook, agent, other = Paused(still), still.agent("fe"), still.agent("fe")
    task_id = claimed(agent)
    agent.soon("update_task", task_id=task_id, status="done")
    running = hook.wait()
    agent.process.kill()
    assert ends(running)  # as hooks end with their bridge, nobody learns what came of it
    still.later(seconds=29)
    with pytest.raises(HubRefused, match="try again in a moment"):
        still.hub.client().step(task_id, "complete", by="fe", result="r")
    still.later(seconds=1)
    again = other.soon("update_task", task_id=task_id, status="done")
    hook.wait()
    hook.end()
    assert other.reply(again) == {"success": True}
    assert hook.times == 2


def test_unreadable_team_file(team: Team) -> None:
    """A team file that cannot be used refuses the claim, and that a task is done, with what is wrong in it."""
    agent = team.agent("fe")
    task_id, free = claimed(agent), agent.task()
    (team.relay_folder / f"session-agents-{RUN}.yml").write_text("agents:\n  fe:\n    hooks: true\n")
    sentence = f"session-agents-{RUN}.yml: agent 'fe': hooks: must be a map"
    assert agent.does("claim_task", task_id=free) == {"success": True, "claimed": False, "reason": sentence}
    assert done(agent, task_id) == {"success": False, "error": sentence}
    assert [agent.row(each)["status"] for each in (task_id, free)] == ["in_progress", "todo"]
    (team.relay_folder / f"session-agents-{RUN}.yml").write_text(pool(fe={}))
    assert done(agent, task_id) == {"success": True}


@pytest.mark.parametrize("files", [False, True])
def test_what_is_said_of_hooks(team: Team, files: bool) -> None:
    """Over HTTP the reply says that no hook was run; over stdio never, with team files or without."""
    if files:
        team.hooks("be", before_task="true", after_task="true")
    agent = team.agent("fe")
    task_id = agent.task()
    assert agent.does("claim_task", task_id=task_id) == {"success": True, "claimed": True}
    assert done(agent, task_id) == {"success": True}
    other = agent.task()
    claim = team.over_http("fe", "claim_task", task_id=other)
    assert claim["hooks"].startswith("not run: ")
    over_http = team.over_http("fe", "update_task", task_id=other, status="done")
    assert over_http == {"success": True, "hooks": claim["hooks"]}


@pytest.mark.parametrize("files", [False, True])
def test_keys_of_the_client(team: Team, files: bool) -> None:
    """A claim that is repeated with the same key gets the answer of the first, with hooks or without."""
    if files:
        team.hooks(before_task="echo ran >> runs")
    agent = team.agent("fe", LEGACY)
    task_id = agent.task()
    call = {
        "name": "claim_task",
        "arguments": {"agent_id": "fe", "task_id": task_id},
        "_meta": {"hubbub/idempotency-key": "once"},
    }
    for _ in range(2):
        assert agent.reply(agent.request("tools/call", call)) == {"success": True, "claimed": True}
    assert not files or (team.root / "runs").read_text() == "ran\n"


class Replies:
    """A hub that replies to the steps of a call as told; what it was asked is kept."""

    def __init__(self, *replies: Json) -> None:
        self.replies = list(replies)
        self.asked: list[Json] = []

    async def __call__(self, message: Message, hear: object = None) -> Message:
        meta = message["params"]["_meta"]
        self.asked.append({name.removeprefix("hubbub/"): value for name, value in meta.items()})
        return {"result": {"structuredContent": self.replies.pop(0), "content": []}}


def say_done(ask: Ask, root: Path) -> Message | None:
    """Say that a task is done, in a workspace, to a hub that is asked by `ask`."""
    arguments = {"agent_id": "fe", "task_id": "t1", "status": "done"}
    message = {"id": 1, "method": "tools/call", "params": {"name": "update_task", "arguments": arguments}}
    workspace, data = Workspace(root, root), root / "data"
    trust([each.command for each in teams.hooks(workspace)[0]], root, data)
    return asyncio.run(HookRunner(workspace, data).update(ClientCall(message, ask)))


BEGUN = {"success": True, "check": "c1", "holder": "fe", "session_id": RUN}


def test_hooks_that_take_long(tmp_path: Path) -> None:
    """A hook of another that takes longer than a call may is waited for again, by its id, until it has ended."""
    (tmp_path / "agents.pool.yml").write_text(pool(fe={}))
    hub = Replies({"busy": "c0"}, {"busy": "c0"}, BEGUN, {"success": True})
    answer = say_done(hub, tmp_path)
    assert answer is not None
    assert reply_of(answer) == {"success": True}
    assert hub.asked == [
        {"step": "begin"},
        {"step": "begin", "check": "c0"},
        {"step": "begin", "check": "c0"},
        {"step": "passed", "check": "c1"},
    ]


def test_lease_is_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub is told again and again that a hook runs, and not after it has ended."""
    monkeypatch.setattr(hooked_module, "RENEW_EVERY", timedelta(0))
    os.mkfifo(tmp_path / "go")
    (tmp_path / "agents.pool.yml").write_text(pool(fe={"hooks": {"after_task": "read word < go"}}))
    steps: list[str] = []

    async def ask(message: Message, hear: object = None) -> Message:
        steps.append(message["params"]["_meta"]["hubbub/step"])
        if steps[-1] == "renew" and steps.count("renew") == 3:
            await asyncio.to_thread((tmp_path / "go").write_text, "end\n")
        return {"result": {"structuredContent": BEGUN if steps == ["begin"] else {}, "content": []}}

    say_done(ask, tmp_path)
    assert (steps[0], steps[-1]) == ("begin", "passed")
    assert set(steps[1:-1]) == {"renew"}
