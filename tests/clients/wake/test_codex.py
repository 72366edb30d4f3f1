"""The door of Codex: which conversations are open, and giving one of them a prompt."""

from pathlib import Path

from hubbub.clients.wake.codex import CodexChannel
from hubbub.clients.wake.wake_channel import OpenConversation, WakeOutcome
from tests.clients.wake.codex_server import CodexServer

TEXT = "hubbub: 1 unread (M-1). Read your hubbub inbox."
ROOM = OpenConversation("t1", "/srv/shop", is_busy=False, used_at=1)


def test_open_conversations_are_asked_of_codex_itself(codex: CodexServer) -> None:
    """Each has its folder, and whether it is in a turn; what Codex itself has started is no door."""
    codex.open("t1", "/srv/shop", used_at=7)
    codex.open("t2", "/srv/bakery", status={"type": "active", "activeFlags": []}, recencyAt=9)
    codex.open("t3", "/srv/shop", parentThreadId="t1")
    codex.open("t4", "/srv/shop", ephemeral=True)

    assert codex.door.rooms() == [
        OpenConversation("t1", "/srv/shop", is_busy=False, used_at=7),
        OpenConversation("t2", "/srv/bakery", is_busy=True, used_at=9),
    ]
    assert codex.door.is_busy()


def test_where_codex_does_not_run_nothing_is_open(tmp_path: Path) -> None:
    """Neither a Codex that was never there nor one that is gone is an error."""
    (tmp_path / "app-server-control").mkdir()
    (tmp_path / "app-server-control" / "app-server-control.sock").touch()

    assert list(CodexChannel(tmp_path / "none", {}).rooms()) == []
    assert list(CodexChannel(tmp_path, {}).rooms()) == []


def test_an_answer_of_another_age_is_no_conversation(codex: CodexServer) -> None:
    """A Codex that answers something else is left alone."""
    codex.threads["t1"] = {"id": "t1"}

    assert list(codex.door.rooms()) == []


def test_a_conversation_is_never_an_option(codex: CodexServer) -> None:
    """Codex's names of conversations go to its command line: one that would be read as an option is ignored."""
    codex.open("--dangerously-bypass-approvals", "/srv/shop")

    assert list(codex.door.rooms()) == []


def test_knocking_queues_a_prompt(codex: CodexServer) -> None:
    """The text is one argument of Codex's own command: no shell, and no key pressed in anybody's terminal."""
    text = "$(touch x) `y` ; --resume"

    assert codex.door.knock(ROOM, text) == WakeOutcome("woken")
    assert codex.said == ["queue", "--thread", "t1", "--message", text]


def test_in_a_turn_the_prompt_waits(codex: CodexServer) -> None:
    """A conversation that is busy takes it up after its turn, and the hub is told so."""
    assert codex.door.knock(
        OpenConversation("t1", "/srv/shop", is_busy=True, used_at=1), TEXT
    ) == WakeOutcome("queued")


def test_a_refusal_is_told_in_one_clean_line(codex: CodexServer) -> None:
    """Codex's reason of a failure is passed on, without control characters."""
    (codex.home / "refuses").touch()

    assert codex.door.knock(ROOM, TEXT) == WakeOutcome("cannot", "no   thread")


def test_without_its_program_it_cannot_be_woken(tmp_path: Path) -> None:
    """A Codex that is not on the PATH is said to be missing."""
    outcome = CodexChannel(tmp_path, {"PATH": str(tmp_path)}).knock(ROOM, TEXT)

    assert outcome == WakeOutcome("cannot", "codex is not on the PATH of hubbub ring")


def test_its_server_is_renewed_only_while_nothing_goes_on(codex: CodexServer, tmp_path: Path) -> None:
    """The server has to read its variables anew after an install; a turn is not broken off for that."""
    codex.open("t1", "/srv/shop")
    assert codex.door.renewal() == [f"{codex.home}/bin/codex", "app-server", "daemon", "restart"]

    codex.open("t2", "/srv/shop", status={"type": "active"})
    assert codex.door.renewal() is None
    assert CodexChannel(tmp_path, {"PATH": f"{codex.home}/bin"}).renewal() is None
