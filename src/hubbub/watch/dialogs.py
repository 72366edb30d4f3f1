"""The windows that open over the screen: one that shows a text, and one that asks for one."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static


class Telling(ModalScreen[None]):
    """Shows a text until a key closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,enter,q,y", "dismiss", "Close")]

    def __init__(self, title: str, text: Text) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Label(Text(self._title, style="bold"))
            with VerticalScroll():
                yield Static(self._text)
            yield Label(Text("Esc closes", style="dim"))


class Asking(ModalScreen[str | None]):
    """Asks for a line; None if the person gave up."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "give_up", "Back")]

    def __init__(self, title: str, about: Text) -> None:
        super().__init__()
        self._title, self._about = title, about

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Label(Text(self._title, style="bold"))
            yield Static(self._about)
            yield Input(id="answer")
            yield Label(Text("Enter sends, Esc goes back", style="dim"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value.strip())

    def action_give_up(self) -> None:
        self.dismiss(None)
