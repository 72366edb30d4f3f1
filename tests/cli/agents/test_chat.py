"""`hubbub chat`, as a process: with a prompt on standard input, and at a terminal."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cli.processes import PROGRAM, RunningHub, plain_environment
from tests.cli.screens import Screen, shown
from tests.node.model_endpoint import Calls, Endpoint, Fails, Hangs, Says, Turn, endpoint

ASKED = "touch made && echo so"  # changes something, which the gate has a person asked about
YOU = "you> "
FAILING = """kind = "command"
command = ["/bin/sh", "-c", "echo no credit >&2; exit 3"]"""


@dataclass
class Chat:
    """A place for a chat: a folder to work in, with the policy of its machine, at a hub."""

    hub: RunningHub
    folder: Path
    _screen: Screen = field(init=False)

    def configure(self, runtime: str, more: str = "") -> None:
        config = self.folder / "config"
        config.mkdir(mode=0o700, exist_ok=True)
        (config / "node.toml").write_text(f"{more}\n[runtime]\n{runtime}\n")

    def with_model(self, model: Endpoint, more: str = "") -> None:
        self.configure(f'kind = "openai"\nurl = "{model.url}"\nmodel = "tiny"', more)

    @property
    def work(self) -> Path:
        (self.folder / "work").mkdir(exist_ok=True)
        return self.folder / "work"

    def environment(self) -> dict[str, str]:
        return plain_environment(
            self.hub.data,
            HUBBUB_PROJECT=self.hub.project,
            HUBBUB_CONFIG=str(self.folder / "config"),
            HOME=str(self.folder),
            TERM="dumb",
        )

    @staticmethod
    def roles(request: dict[str, Any]) -> list[str]:
        """Return the roles of the messages in the model's request, without the instructions."""
        return [each["role"] for each in request["messages"] if each["role"] != "system"]

    def run(self, prompt: str, *options: str) -> subprocess.CompletedProcess[str]:
        """One prompt on standard input."""
        return subprocess.run(
            [*PROGRAM, "chat", *options],
            cwd=self.work,
            env=self.environment(),
            input=prompt,
            capture_output=True,
            text=True,
            check=False,
        )

    @contextmanager
    def at_terminal(self) -> Iterator[subprocess.Popen[bytes]]:
        """A chat at a terminal, which is left in the end."""
        with shown([*PROGRAM, "chat"], self.environment(), self.work) as self._screen:
            self.until(YOU)
            yield self._screen.process
            self.type("/quit")
            assert self._screen.process.wait() == 0

    def type(self, line: str) -> None:
        self._screen.type(f"{line}\n")

    def says(self, line: str, words: str) -> str:
        """Type a line, and wait until the words are on the screen, and then for the next turn."""
        self.type(line)
        seen = self.until(words)
        self.until(YOU)
        return seen

    def until(self, words: str) -> str:
        """Wait until the words are on the screen; return everything printed since the last call."""
        return self._screen.until(words)


@pytest.fixture
def chat(hub: RunningHub, tmp_path: Path) -> Chat:
    return Chat(hub, tmp_path)


class TestOnePrompt:
    def test_the_answer_is_printed(self, chat: Chat) -> None:
        """Only the agent's final answer goes to standard output, made harmless for terminals."""
        chat.configure("""kind = "command"
command = ["/bin/sh", "-c", 'pwd; cat; printf "\\033[2Jboo"']""")

        done = chat.run("hello\n")

        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"{chat.work}\nhello\\u001b[2Jboo\n"

    def test_the_agent_has_the_tools_of_cmdop_behind_the_gate(self, chat: Chat) -> None:
        """It reads files and the board as any client would; it is denied what the floor denies; and what a person is
        asked about goes where the questions of all agents go.
        """
        (chat.work / "colour.txt").write_text("green")
        chat.hub.meet("ada")
        chat.hub.send("ada", "paint the fence")
        calls: list[tuple[str, dict[str, object]]] = [
            ("read_file", {"path": "colour.txt"}),
            ("issue_list", {}),
            ("execute_command", {"command": "rm -rf ~"}),
            ("execute_command", {"command": ASKED}),
        ]
        with endpoint(Calls(calls), Says(["Green."])) as model:
            chat.with_model(model, "approval_timeout = 1")
            done = chat.run("which colour?", "--json")

        reply = json.loads(done.stdout)
        assert reply["text"] == "Green."
        assert [(call["name"], call["ok"]) for call in reply["tool_calls"]] == [
            ("read_file", True),
            ("issue_list", True),
            ("execute_command", False),
            ("execute_command", False),
        ]
        assert len(model.asked[0]["tools"]) == 27
        read, listed, denied, unanswered = map(json.loads, model.tool_results())
        assert read["content"] == "green"
        assert listed[0]["title"] == "paint the fence"
        assert (denied["error"], denied["rule_id"]) == ("permission_denied", "F1")
        assert unanswered["code"] == "needs_approval"
        assert not (chat.work / "made").exists()

    @pytest.mark.parametrize(
        ("runtime", "sentence"),
        [
            (None, "no agent is configured on this machine"),
            ('kind = "soothsayer"', "runtime.kind"),
            (FAILING, "the agent's program ended with exit code 3: no credit\n"),
        ],
    )
    def test_what_is_wrong_with_the_agent_is_one_sentence(
        self, chat: Chat, runtime: str | None, sentence: str
    ) -> None:
        """Exit code 1, and why there is no answer."""
        if runtime is not None:
            chat.configure(runtime)
        done = chat.run("hi")

        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("Error: ")
        assert sentence in done.stderr
        assert done.stderr.count("\n") == 1

    def test_there_has_to_be_a_prompt(self, chat: Chat) -> None:
        """Nothing on standard input is wrong usage."""
        done = chat.run("  \n")

        assert done.returncode == 2
        assert "no prompt" in done.stderr


class TestAtTheTerminal:
    @pytest.mark.system
    def test_what_is_said_and_done_is_shown_and_remembered(self, chat: Chat) -> None:
        """The person sees which tools the agent calls, reads its text as it comes, and has commands of their own."""
        (chat.work / "colour.txt").write_text("green")
        reading = Calls([("read_file", {"path": "colour.txt"})])
        with endpoint(reading, Says(["It is ", "green."]), Says(["Sure."]), Says(["What?"])) as model:
            chat.with_model(model)
            with chat.at_terminal():
                assert '→ read_file {"path": "colour.txt"}' in chat.says("which colour?", "It is green.")
                chat.says("sure?", "Sure.")
                assert "/clear" in chat.says("/help", "Ctrl-C")
                chat.says("/tools", "execute_command")
                chat.says("/dance now", "There is no /dance")
                chat.says("/clear", "forgotten")
                chat.says("sure?", "What?")

        assert [chat.roles(request) for request in model.asked] == [
            ["user"],
            ["user", "assistant", "tool"],
            ["user", "assistant", "tool", "assistant", "user"],
            ["user"],
        ]

    @pytest.mark.system
    def test_what_the_gate_asks_is_asked_at_the_terminal(self, chat: Chat) -> None:
        """The person reads what would be done, and only a yes lets it through."""
        turns: list[Turn] = [Calls([("execute_command", {"command": ASKED})]), Says(["Well."])]
        with endpoint(*turns * 3) as model:
            chat.with_model(model)
            with chat.at_terminal():
                for answer, made in ("no", False), ("", False), ("yes", True):
                    chat.type("go")
                    assert "touch made" in chat.until("yes or no? [no] ")
                    chat.says(answer, "Well.")
                    assert (chat.work / "made").exists() is made

        no, nothing, yes = map(json.loads, model.tool_results())
        assert [(each["code"], each["source"]) for each in (no, nothing)] == [("denied", "person")] * 2
        assert yes["stdout"] == "so\n"

    @pytest.mark.system
    def test_neither_ctrl_c_nor_a_failure_ends_the_chat(self, chat: Chat) -> None:
        """The turn ends, and the person may try again."""
        stuck = Hangs()
        asking = Calls([("execute_command", {"command": ASKED})])
        with endpoint(stuck, asking, Fails(401, "Incorrect key"), Says(["Here again."])) as model:
            chat.with_model(model)
            with chat.at_terminal() as process:
                chat.type("think hard")
                stuck.begun.wait()
                process.send_signal(signal.SIGINT)
                chat.until("(stopped)")
                chat.until(YOU)
                chat.type("go")
                chat.until("yes or no? [no] ")
                process.send_signal(signal.SIGINT)
                chat.until("(stopped)")
                chat.until(YOU)
                chat.says("still there?", "the model's endpoint answered 401: Incorrect key")
                chat.says("still there?", "Here again.")
        assert not (chat.work / "made").exists()
