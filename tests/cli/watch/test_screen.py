"""The screen of `hubbub watch`, driven by keys against a real hub."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static
from textual.widgets._footer import FooterKey

from hubbub.client import Hub as Client
from hubbub.core.actions import task_actions
from hubbub.core.agents import agents
from hubbub.core.fleet import approvals
from hubbub.core.limits import accounts
from hubbub.core.mail import messages
from hubbub.core.presence import presences
from hubbub.core.work import tasks
from hubbub.model.fleet.calls import Principal, Question
from hubbub.model.lifecycle import Event
from hubbub.model.people.rights import SYSTEM, Role
from hubbub.model.records import Condition, Profile
from hubbub.store.tx import Tx
from hubbub.watch.screen import Choices, Watch
from tests.serve.served_hub import Hub, running_hub
from tests.support.waiting import until_soon

pytestmark = pytest.mark.anyio

SIZE = (160, 44)
HOUR = timedelta(hours=1)
HOSTILE = "[bold red]not markup[/] \x1b[31m\u202eevil"


@pytest.fixture
def hub(tmp_path: Path) -> Any:
    with running_hub(tmp_path / "hub", public_url=None) as running:
        yield running


@dataclass
class Screen:
    """The running screen."""

    hub: Hub
    app: Watch
    pilot: Pilot[None]

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until the screen has come so far."""
        await until_soon(condition, "the screen", seen=self.shown)

    def text(self, list_id: str) -> str:
        """Return the text of one of the lists."""
        choices = self.app.screen_stack[0].query_one(list_id, Choices)
        return "\n".join(
            str(choices.get_option_at_index(each).prompt) for each in range(choices.option_count)
        )

    def window(self) -> str:
        """Return the texts of the window on top; it opens before it has any."""
        return "\n".join(str(each.render()) for each in self.app.screen.query(Static))

    def shown(self) -> object:
        return self.status(), self.window()

    def status(self) -> str:
        return str(self.app.screen_stack[0].query_one("#status", Static).render())


@asynccontextmanager
async def watching(hub: Hub, secret: str | None = None, *, acts: bool = True) -> AsyncIterator[Screen]:
    """The screen, over a connection of its own."""
    client = Client(hub.url, secret or hub.owner_secret, project="default")
    app = Watch(client, acts=acts)
    async with app.run_test(size=SIZE) as pilot:
        screen = Screen(hub, app, pilot)
        await screen.until(lambda: "● live" in screen.status())
        yield screen
    screen.hub.meet("somebody")  # so that the thread, which waits for news, hears that it is over
    app.following.join()
    client.close()


def blocked(hub: Hub, name: str = "ember", title: str = "Move the schema", note: str = "Which one?") -> Any:
    """A task that an agent has begun and cannot go on with."""

    def operation(tx: Tx) -> Any:
        presences.report(
            tx,
            hub.project.id,
            name,
            instance="1",
            condition=Condition.WORKING,
            profile=Profile(doing=title),
            ttl=timedelta(minutes=10),
        )
        task = tasks.send(tx, hub.project.id, sender="hub", to=name, text=title)
        task = task_actions.start(tx, task_actions.accept(tx, task, name), name)
        return tasks.step(tx, task, Event.BLOCK, actor=name, detail={"reason": note})

    return hub.do(operation)


def asked(hub: Hub, who: str = "ember", *, dangerous: bool = False) -> None:
    """A call of an agent that waits for a person."""
    question = Question(
        who=Principal(project=hub.project.slug, name=who),
        node="web1",
        tool="run_command",
        arguments={"command": "make deploy"},
        folder="/srv",
        shown="make deploy",
        reason="it asks",
        digest="0" * 64,
        dangerous=dangerous,
    )
    hub.do(lambda tx: approvals.put(tx, hub.project, question, HOUR))


def found(hub: Hub, task: Any) -> Any:
    return hub.store.read_now(SYSTEM, lambda tx: tasks.find(tx, [hub.project.id], str(task.id)))


async def test_what_happens_appears_by_itself(hub: Hub) -> None:
    """A need of a person is on the screen as soon as it arises, with its reason."""
    async with watching(hub) as screen:
        assert "Nothing needs you" in screen.text("#needs-list")

        blocked(hub)

        await screen.until(lambda: "Move the schema" in screen.text("#needs-list"))
        assert "Waiting for you" in screen.text("#needs-list")
        assert "Which one?" in screen.text("#needs-list")
        await screen.pilot.press("2")
        assert "Move the schema" in screen.text("#column-2")


async def test_a_paused_account_is_said_at_its_tasks(hub: Hub) -> None:
    """That all accounts are paused needs a person, and the task of such an agent says until when."""

    def pause(tx: Tx) -> None:
        agents.meet(tx, hub.project.id, "ember")
        tasks.send(tx, hub.project.id, sender="hub", to="ember", text="Complete names")
        accounts.put(tx, hub.project, "max", ["ember"])
        accounts.pause(tx, hub.project, "max", None, by="ann")

    hub.do(pause)
    async with watching(hub) as screen:
        await screen.until(lambda: "All accounts are paused" in screen.text("#needs-list"))
        assert "paused until it is resumed" in screen.text("#column-0")
    hub.do(lambda tx: accounts.drop(tx, hub.project, "max"))


@pytest.mark.system
async def test_what_an_agent_waits_for_is_said(hub: Hub) -> None:
    """The task of an agent that waits for a person stands there with the agent's question."""

    def ask(tx: Tx) -> None:
        said = Profile(doing="Which shell first?")
        presences.report(
            tx, hub.project.id, "ember", instance="1", condition=Condition.WAITING, profile=said, ttl=HOUR
        )
        task = tasks.send(tx, hub.project.id, sender="hub", to="ember", text="Complete names")
        task_actions.start(tx, task_actions.accept(tx, task, "ember"), "ember")

    hub.do(ask)
    async with watching(hub) as screen:
        await screen.until(lambda: "Complete names" in screen.text("#needs-list"))
        assert "ember · Which shell first?" in screen.text("#needs-list")


async def test_a_blocked_task_is_answered_by_a_key(hub: Hub) -> None:
    """`r` asks for a line, tells it to whoever is blocked, and the task goes on."""
    task = blocked(hub)
    async with watching(hub) as screen:
        await screen.until(lambda: "Waiting for you" in screen.text("#needs-list"))

        await screen.pilot.press("r", *"the new", "enter")

        await screen.until(lambda: found(hub, task).status == "working")
    said = hub.store.read_now(SYSTEM, lambda tx: messages.thread(tx, task.id, 10))
    assert [each.body for each in said][:1] == ["the new"]


@pytest.mark.system
async def test_a_task_is_cancelled_with_its_reason(hub: Hub) -> None:
    """`c` asks why, and cancels what is marked; Esc leaves it as it is."""
    task = blocked(hub)
    async with watching(hub) as screen:
        await screen.until(lambda: "Waiting for you" in screen.text("#needs-list"))
        await screen.pilot.press("c", "escape")
        assert found(hub, task).status == "blocked"

        await screen.pilot.press("c", *"no need", "enter")

        await screen.until(lambda: found(hub, task).status == "cancelled")
    assert found(hub, task).note == "no need"


@pytest.mark.system
async def test_why_is_one_key_away(hub: Hub) -> None:
    """`y`, or Enter, says in a paragraph why what is marked is as it is."""
    blocked(hub)
    async with watching(hub) as screen:
        await screen.until(lambda: "Waiting for you" in screen.text("#needs-list"))

        await screen.pilot.press("enter")

        await screen.until(lambda: "has been blocked since" in screen.window())
        assert "ember holds it" in screen.window()


@pytest.mark.system
async def test_a_blocked_task_stays_beside_an_approval(hub: Hub) -> None:
    """A blocked task waits for its answer, though a call of its agent waits for a person as well."""
    blocked(hub)
    asked(hub)
    async with watching(hub) as screen:
        await screen.until(lambda: "make deploy" in screen.text("#needs-list"))
        assert "Waiting for you" in screen.text("#needs-list")
        assert "Which one?" in screen.text("#needs-list")


@pytest.mark.system
async def test_what_is_dangerous_takes_a_second_key(hub: Hub) -> None:
    """A dangerous approval is marked; the first `a` says that another is needed, which approves it."""
    asked(hub, dangerous=True)
    async with watching(hub) as screen:
        await screen.until(lambda: "make deploy" in screen.text("#needs-list"))
        assert "dangerous" in screen.text("#needs-list")
        await screen.pilot.press("a")
        assert "a once more approves it" in screen.text("#needs-list")

        await screen.pilot.press("a")

        await screen.until(lambda: "make deploy" not in screen.text("#needs-list"))


async def test_who_may_only_look_is_offered_no_keys_that_act(hub: Hub) -> None:
    """A viewer's screen has no keys that the hub would refuse, and asks for nothing when one is pressed."""
    task = blocked(hub)
    async with watching(hub, hub.token(role=Role.VIEWER), acts=False) as screen:
        await screen.until(lambda: "Waiting for you" in screen.text("#needs-list"))
        keys = {binding.binding.description for binding in screen.app.screen.active_bindings.values()}
        assert {"Why?", "Help"} <= keys
        assert keys.isdisjoint({"Approve", "Deny", "Reply", "Done", "Retry", "Cancel", "Reassign", "Release"})

        await screen.pilot.press("c")

        assert not screen.app.screen.query(Input)
    assert found(hub, task).status == "blocked"


async def test_nothing_is_said_of_what_is_not_known(hub: Hub) -> None:
    """Before the hub has told how the project is, the screen does not say that nothing needs you."""
    client = Client(hub.url, "utok_nonsense", project="default")
    app = Watch(client)
    async with app.run_test(size=SIZE) as pilot:
        screen = Screen(hub, app, pilot)
        await screen.until(lambda: "reconnecting" in screen.status())
        assert screen.text("#needs-list") == screen.text("#feed") == "Not known yet."
    app.following.join()
    client.close()


@pytest.mark.system
async def test_a_letter_is_done_with(hub: Hub) -> None:
    """`x` acknowledges a letter to people, which is then gone."""
    hub.do(lambda tx: messages.send(tx, hub.project.id, sender="ember", to="hub", body="May I?"))
    async with watching(hub) as screen:
        await screen.until(lambda: "May I?" in screen.text("#needs-list"))

        await screen.pilot.press("x")

        await screen.until(lambda: "May I?" not in screen.text("#needs-list"))


async def test_what_agents_write_cannot_steer_the_terminal(hub: Hub) -> None:
    """Markup and control characters in others' words are shown as what they are."""
    blocked(hub, title=HOSTILE, note=HOSTILE)
    async with watching(hub) as screen:
        await screen.until(lambda: "not markup" in screen.text("#needs-list"))

        shown = screen.text("#needs-list")

    assert "[bold red]not markup[/]" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


@pytest.mark.system
async def test_a_refusal_is_told_and_nothing_changes(hub: Hub) -> None:
    """A viewer that tries to act is told the hub's own sentence."""
    task = blocked(hub)
    async with watching(hub, hub.token(role=Role.VIEWER)) as screen:
        await screen.until(lambda: "Waiting for you" in screen.text("#needs-list"))

        await screen.pilot.press("c", *"stop", "enter")

        await screen.until(lambda: len(screen.app._notifications) > 0)
        assert "viewer" in " ".join(each.message for each in screen.app._notifications)
        assert not screen.app.screen.query(Input)
    assert found(hub, task).status == "blocked"


@pytest.mark.system
async def test_a_lost_hub_is_said_and_found_again(tmp_path: Path) -> None:
    """While the hub is away the screen says so, and goes on by itself where it was."""
    with running_hub(tmp_path / "hub", public_url=None) as hub:
        port = hub.served.port
        stack = AsyncExitStack()
        screen = await stack.enter_async_context(watching(hub))
        hub.served.stop()
        await screen.until(lambda: "reconnecting" in screen.status())
    with running_hub(tmp_path / "hub", public_url=None, port=port) as again:
        blocked(again)

        await screen.until(lambda: "● live" in screen.status())
        await screen.until(lambda: "Move the schema" in screen.text("#needs-list"))
        screen.hub = again
        await stack.aclose()


@pytest.mark.system
async def test_it_is_left_while_news_comes_in(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaving the screen drops any pending drawing without an error."""
    monkeypatch.setattr("hubbub.watch.screen.DRAW_AFTER", 0.001)  # due while the widgets are taken down
    async with watching(hub) as screen:
        screen.app._draw_soon()

    assert not screen.app.is_running


@pytest.mark.system
async def test_a_narrow_screen_says_how_to_be_helped(hub: Hub) -> None:
    """At 80 columns the footer shows the keys for help and for leaving."""
    client = Client(hub.url, hub.owner_secret, project="default")
    app = Watch(client)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = Screen(hub, app, pilot)

        def ends() -> dict[str, int]:
            """Where the keys end that the footer shows, in columns."""
            keys = app.screen.query(FooterKey)
            return {each.description: each.region.right for each in keys if each.region.width}

        await screen.until(lambda: ends().keys() >= {"Help", "Leave"})
        assert max(ends()["Help"], ends()["Leave"]) <= 80
    screen.hub.meet("somebody")
    app.following.join()
    client.close()


@pytest.mark.system
async def test_a_line_of_the_log_tells_what_it_is_about(hub: Hub) -> None:
    """Enter on a line of the log says why its task or its agent is as it is."""
    blocked(hub)
    async with watching(hub) as screen:
        await screen.until(lambda: "task.blocked" in screen.text("#feed"))
        await screen.pilot.press("4", "enter")
        await screen.until(lambda: "has been blocked since" in screen.window())
        assert "Why T-1?" in screen.window()
