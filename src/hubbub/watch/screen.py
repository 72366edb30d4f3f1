"""The screen of `hubbub watch`: four panes over one picture, and the keys that act on the marked item."""

import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import DataTable, Footer, Label, OptionList, Static, TabbedContent, TabPane
from textual.widgets.option_list import Option

from hubbub.client import Hub, HubRefused, HubUnreachable
from hubbub.model.log.attention import Needed
from hubbub.model.log.projection import Card
from hubbub.terminal import display
from hubbub.watch import actions, rendering
from hubbub.watch.actions import WatchAction
from hubbub.watch.dialogs import Asking, Telling
from hubbub.watch.follower import ConnectionState, PictureFollower
from hubbub.watch.view_model import COLUMNS, ViewModel

DRAW_AFTER = 0.05  # seconds; changes within them are drawn together
CAP = 300  # tasks of one column; the dashboard shows them all
PANES = ("needs", "board", "fleet", "log")
HELP = """1 2 3 4     needs you, board, fleet, log
arrows jk   move; h l or Tab: next column
Enter y     why it is as it is; of a line of the log, what that is about
a  d        approve, deny
r           reply, answer
x           done with a message
t  c        try again, cancel
m  o        give to another agent, back to the open queue
?  q        this help, leave (also Ctrl-C)"""


class Choices(OptionList):
    """A list that can be walked with j and k too."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
    ]

    def show(self, options: Sequence[tuple[str, Text]], none: str) -> None:
        """Show these options, each with its key; the marked one stays marked while it is there."""
        marked = self.marked
        self.clear_options()
        self.add_options([Option(text, id=key) for key, text in options] or [Option(none, disabled=True)])
        keys = [key for key, _text in options]
        if keys:
            self.highlighted = keys.index(marked) if marked in keys else 0

    @property
    def marked(self) -> str | None:
        """Return the key of the marked option."""
        if self.highlighted is None or self.highlighted >= self.option_count:
            return None
        return self.get_option_at_index(self.highlighted).id


class Watch(App[None]):
    """Show the dashboard in the terminal."""

    TITLE = "hubbub"
    CSS_PATH = "watch.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(number), f"pane('{name}')", show=False) for number, name in enumerate(PANES, 1)),
        Binding("question_mark", "help", "Help"),  # first, as a narrow footer shows only the beginning
        Binding("q", "quit", "Leave"),
        Binding("ctrl+c", "quit", show=False, priority=True),  # from every window, as in other programs
        Binding("y", "why", "Why?"),
        Binding("a", "deed('approve')", "Approve"),
        Binding("d", "deed('deny')", "Deny"),
        Binding("r", "deed('answer')", "Reply"),
        Binding("x", "deed('acknowledge')", "Done"),
        Binding("t", "step('retry')", "Retry"),
        Binding("c", "step('cancel')", "Cancel"),
        Binding("m", "step('reassign')", "Reassign"),
        Binding("o", "step('release')", "Release"),
        Binding("h", "app.focus_previous", show=False),
        Binding("l", "app.focus_next", show=False),
    ]

    def __init__(self, hub: Hub, *, acts: bool = True) -> None:
        super().__init__()
        self.hub, self.acts = hub, acts  # viewers get no key for actions that the hub would refuse
        self.following = PictureFollower(hub, self._changed)
        self.shown = ViewModel(self.following.watched.fold.picture, 0)
        self._needs: dict[str, Needed] = {}
        self._is_due = False
        self._is_known = False  # whether the hub has sent the project's state
        self._armed: str | None = None  # the dangerous approval that the next `a` approves

    def compose(self) -> ComposeResult:
        yield Static(id="status")
        with TabbedContent(initial="needs"):
            with TabPane("Needs you", id="needs"):
                yield Choices(id="needs-list")
            with TabPane("Board", id="board"), Horizontal():
                for number, name in enumerate(COLUMNS):
                    with Vertical(classes="column"):
                        yield Label(name, id=f"head-{number}")
                        yield Choices(id=f"column-{number}")
            with TabPane("Fleet", id="fleet"):
                yield DataTable(id="agents", cursor_type="row")
            with TabPane("Log", id="log"):
                yield Choices(id="feed")
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#agents", DataTable).add_columns(
            "Agent", "State", "Machine", "Runtime", "Task", "At work on"
        )
        self.query_one("#needs-list").focus()
        self._draw()
        self.following.start()

    def on_unmount(self) -> None:
        self.following.stop()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.acts or action not in ("deed", "step")

    # Drawing.

    def _changed(self) -> None:
        """Schedule a redraw; called from the thread that follows the hub."""
        if self.is_running:
            self.call_from_thread(self._draw_soon)

    def _draw_soon(self) -> None:
        if not self._is_due:
            self._is_due = True
            self.set_timer(DRAW_AFTER, self._draw)

    def _draw(self) -> None:
        if not self.is_running:  # it was left while this was due: the widgets are being removed
            return
        self._is_due = False
        watched = self.following.watched
        with watched.lock:
            picture = {noun: dict(cards) for noun, cards in watched.fold.picture.items()}
            feed = list(watched.feed)
            connection, reason = watched.connection, watched.reason
            self._is_known = watched.is_known
        self.shown = ViewModel(picture, time.time_ns() // 1_000_000)
        self._draw_status(connection, reason)
        self._draw_needs()
        self._draw_board()
        self._draw_fleet()
        newest_first = [(str(each["id"]), rendering.activity_line(each)) for each in reversed(feed)]
        self._show("#feed", newest_first, "Nothing has happened yet.")

    def _show(self, list_id: str, options: Sequence[tuple[str, Text]], none: str) -> None:
        """Show these options in a list; an empty list is reported only once the hub has sent the project's state."""
        self.query_one(list_id, Choices).show(options, none if self._is_known else "Not known yet.")

    def _draw_status(self, connection: ConnectionState, reason: str) -> None:
        colour = "#4fc68d" if connection is ConnectionState.LIVE else "#f2ab3f"
        status = Text().append("✳ hubbub  ", "bold #62d6c8")
        status.append(self.hub.project or "").append(f"  ● {connection}", colour)
        self.query_one("#status", Static).update(status.append("  ").append_text(rendering.styled(reason)))

    def _draw_needs(self) -> None:
        self._needs = {need.id: need for need in self.shown.needs()}
        shown = [(key, rendering.need_lines(need, self.shown)) for key, need in self._needs.items()]
        for key, text in shown:
            if key == self._armed:
                text.append("a once more approves it\n", f"bold {rendering.RED}")
        self._show(
            "#needs-list", shown, "Nothing needs you. Agents that ask, fail or fall silent stand here."
        )
        self.query_one(TabbedContent).get_tab("needs").label = f"Needs you {len(shown)}"

    def _draw_board(self) -> None:
        for number, name in enumerate(COLUMNS):
            tasks = self.shown.column(name)
            shown = [(task["id"], rendering.task_lines(task, self.shown)) for task in tasks[:CAP]]
            self._show(f"#column-{number}", shown, "Nothing here")
            self.query_one(f"#head-{number}", Label).update(f"{name} {len(tasks)}")

    def _draw_fleet(self) -> None:
        table = self.query_one("#agents", DataTable)
        row = table.cursor_row
        table.clear()
        agents = self.shown.picture["agents"].values()
        for agent in sorted(agents, key=lambda each: (each["machine"] or "~", each["name"])):
            table.add_row(*rendering.agent_cells(agent, self.shown), key=agent["name"])
        table.move_cursor(row=min(row, max(table.row_count - 1, 0)))

    # Marked items.

    def _pane(self) -> str:
        return str(self.query_one(TabbedContent).active)

    def _need(self) -> Needed | None:
        if self._pane() != "needs":
            return None
        return self._needs.get(self.query_one("#needs-list", Choices).marked or "")

    def _marked_task(self) -> Card | None:
        need = self._need()
        if need is not None:
            return self.shown.task_of(need)
        match self._pane():
            case "board" if isinstance(self.focused, Choices):
                return self.shown.picture["tasks"].get(self.focused.marked or "")
            case "fleet":
                return self.shown.at_work_on(self._agent() or "")
        return None

    def _agent(self) -> str | None:
        """Return the name of the agent that is marked in the fleet."""
        table = self.query_one("#agents", DataTable)
        if self._pane() != "fleet" or not table.row_count:
            return None
        return str(table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value)

    def _logged(self) -> dict[str, Any] | None:
        """Return the activity in the marked line of the log."""
        marked = self.query_one("#feed", Choices).marked if self._pane() == "log" else None
        with self.following.watched.lock:
            feed = list(self.following.watched.feed)
        return next((each for each in feed if str(each["id"]) == marked), None)

    # Keys.

    def action_pane(self, name: str) -> None:
        self.query_one(TabbedContent).active = name
        first = {"needs": "#needs-list", "board": "#column-2", "fleet": "#agents", "log": "#feed"}
        self.query_one(first[name]).focus()

    def action_deed(self, name: str) -> None:
        need = self._need()
        deed = getattr(actions, name)(need, self.shown.task_of(need)) if need is not None else None
        if need is None or deed is None:
            self.notify("mark something that this can be done to, in the first pane", severity="warning")
            return
        if deed.sure and self._armed != need.id:
            self._armed = need.id
            self._draw_needs()
            self.notify(deed.sure, severity="warning")
            return
        self._armed = None
        self._ask_and_do(deed, rendering.need_lines(need, self.shown))

    def action_step(self, name: str) -> None:
        task = self._marked_task()
        if task is None:
            self.notify("mark a task first", severity="warning")
            return
        if name not in task["may"]:
            self.notify(f"{name}: {rendering.ref(task)} is {task['state']}", severity="warning")
            return
        self._ask_and_do(getattr(actions, name)(task), rendering.task_lines(task, self.shown))

    def on_option_list_option_selected(self) -> None:
        self.action_why()

    def on_data_table_row_selected(self) -> None:
        self.action_why()

    def action_why(self) -> None:
        logged = self._logged()
        if logged is not None:
            kind, name, title = rendering.subject(logged)
        else:
            task, agent = self._marked_task(), self._agent()
            kind, name = ("task", task["id"]) if task else ("agent", agent)
            title = rendering.ref(task) if task else str(agent)
        if name is None and logged is not None:
            self.push_screen(Telling("In full", rendering.activity_line(logged)))
            return
        if name is None:
            self.notify("mark a task or an agent first", severity="warning")
            return
        self._in_background(
            lambda: actions.why(self.hub, kind, name),
            lambda sentence: self.push_screen(
                Telling(f"Why {title}?", Text(display.clean(sentence, lines=True)))
            ),
        )

    def action_help(self) -> None:
        self.push_screen(Telling("Keys", Text(HELP)))

    def _ask_and_do(self, deed: WatchAction, about: Text) -> None:
        if deed.asks is None:
            self._do(deed, "")
        else:
            self.push_screen(Asking(deed.asks, about), lambda text: self._do(deed, text) if text else None)

    def _do(self, deed: WatchAction, text: str) -> None:
        self._in_background(lambda: deed.call(self.hub, text), self.notify)

    def _in_background(self, call: Callable[[], str], done: Callable[[str], object]) -> None:
        """Call the hub without blocking the screen; its refusals are shown in its own words."""

        def work() -> None:
            try:
                answer = call()
            except (HubRefused, HubUnreachable) as error:
                self.call_from_thread(self.notify, display.clean(str(error)), severity="error")
            else:
                self.call_from_thread(done, answer)

        self.run_worker(work, thread=True)
