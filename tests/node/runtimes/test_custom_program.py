import asyncio
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from hubbub.model.fleet.managed_agents import AgentCredentials
from hubbub.node.policy.node_policy import OpenAIRuntime, Runtime
from hubbub.node.runtimes import conversation
from hubbub.node.runtimes.agent_program import CUT, MOST
from hubbub.node.runtimes.conversation import Answer, Conversation, RuntimeFailed
from hubbub.node.runtimes.custom_program import CommandConversation
from tests.cli.processes import ends
from tests.node.tool_access import CATALOGUE, Record

# Says which process it is, then neither ends when asked nor lets its child do so.
STUBBORN = "trap '' TERM; (trap '' TERM; exec tail -f /dev/null) & echo $! $$; wait"


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record(tmp_path)


def program(code: str, *words: str) -> Conversation:
    return CommandConversation(["/bin/sh", "-c", code, "agent", *words])


def ask(agent: Conversation, prompt: str, record: Record) -> Answer:
    return asyncio.run(agent.say(prompt, record.hands()))


def test_a_program_reads_the_prompt_and_prints_the_answer(record: Record) -> None:
    """The prompt comes on standard input, as it is; what is printed is the answer, without blank ends."""
    answer = ask(program("echo '  you said:'; cat"), "zwei\nZeilen ü", record)

    assert answer == Answer("you said:\nzwei\nZeilen ü")


def test_a_program_that_wants_it_gets_the_prompt_as_a_word(record: Record) -> None:
    """Where a word of the command is `{prompt}`, it stands for the prompt, and standard input is empty."""
    agent = program('printf "%s|" "$@"; cat', "--say", "{prompt}", "{prompt}s")

    assert ask(agent, "a b; $(c)", record).text == "--say|a b; $(c)|{prompt}s|"


def test_a_prompt_is_no_option(record: Record) -> None:
    """A prompt that begins with a dash cannot be taken for an option of the program."""
    assert ask(program('printf "<%s>" "$1"', "{prompt}"), "--yolo", record).text == "< --yolo>"


def test_a_program_that_reads_nothing_is_no_trouble(record: Record) -> None:
    """It may answer without reading a prompt that is larger than a pipe holds."""
    assert ask(program("echo done"), "x" * 1_000_000, record).text == "done"


def test_a_program_works_in_the_folder_and_knows_its_task(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder is the machine's; of the environment it sees what it needs, never a token of the operator's."""
    monkeypatch.setenv("HUBBUB_TOKEN", "utok_secret")
    monkeypatch.setenv("HUBBUB_GITHUB_TOKEN", "ghp_secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("MODEL_KEY", "sk-model")
    agent = CommandConversation(["/bin/sh", "-c", "pwd; env"], key="MODEL_KEY")

    folder, *environment = ask(agent, "", record).text.splitlines()

    assert folder == str(record.folder)
    assert "HUBBUB_NODE=here" in environment
    assert "HUBBUB_TASK_ID=7" in environment
    assert "MODEL_KEY=sk-model" in environment
    assert not [line for line in environment if "secret" in line]
    assert not [line for line in environment if line.startswith("HUBBUB_TOOLS")]


def test_a_program_is_given_what_was_lent(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """It finds in its environment, and nowhere else, where the hub is and with what it acts there."""
    monkeypatch.setenv("HUBBUB_URL", "http://operator")
    monkeypatch.setenv("HUBBUB_TOKEN", "utok_secret")
    agent = program('echo "$HUBBUB_URL $HUBBUB_TOKEN"; tr "\\0" " " < /proc/$$/cmdline', "word")
    hands = record.hands(lent=AgentCredentials("http://hub", "ntok_lent"))

    said, words = asyncio.run(agent.say("", hands)).text.splitlines()

    assert said == "http://hub ntok_lent"
    assert "word" in words
    assert "ntok_lent" not in words


def test_a_program_is_told_the_tools_it_is_limited_to(record: Record) -> None:
    """It has tools of its own, so that the limit can only be told: in `HUBBUB_TOOLS`."""
    hands = record.hands(CATALOGUE[:1], is_limited=True)

    assert asyncio.run(program("echo $HUBBUB_TOOLS").say("", hands)).text == "read_file"


def test_a_program_that_fails_is_quoted(record: Record) -> None:
    """An exit code other than 0 is a failure, told with the last of what it said on standard error."""
    with pytest.raises(RuntimeFailed, match=r"ended with exit code 3: no credit left$"):
        ask(program("echo partial; echo no credit left >&2; exit 3"), "", record)
    with pytest.raises(RuntimeFailed, match=r"was killed by signal 9 and said nothing on standard error$"):
        ask(program("kill -9 $$"), "", record)


def test_a_program_that_is_not_there_is_said_so(record: Record) -> None:
    """A command that cannot be started, or a prompt that is too long for a word, is one sentence."""
    with pytest.raises(RuntimeFailed, match=r"'no-such-agent' cannot be started: No such file or directory$"):
        ask(CommandConversation(["no-such-agent"]), "", record)
    with pytest.raises(RuntimeFailed, match=r"'echo' cannot be started: Argument list too long$"):
        ask(CommandConversation(["echo", "{prompt}"]), "x" * 1_000_000, record)


def test_an_endless_answer_is_cut(record: Record) -> None:
    """The beginning of a long answer is kept, and the cut is marked."""
    answer = ask(CommandConversation([sys.executable, "-c", f"print('x' * {2 * MOST})"]), "", record)

    assert answer.text == "x" * MOST + CUT


def test_bytes_that_are_no_text_are_replaced(record: Record) -> None:
    """Whatever a program prints, the answer is text."""
    assert ask(program(r"printf 'a\377b'"), "", record).text == "a\ufffdb"


def test_an_answer_is_heard_while_it_comes(record: Record) -> None:
    """A listener gets the output as it is printed, characters kept whole."""
    heard: list[str] = []
    fifo = record.folder / "go"

    async def hear(piece: str) -> None:
        heard.append(piece)
        if len(heard) == 1:
            await asyncio.to_thread(fifo.write_text, "on")

    agent = program(r"mkfifo go; printf 'one \303'; cat go > went; printf '\274'; rm go")
    answer = asyncio.run(agent.say("", record.hands(), hear))

    assert heard == ["one ", "ü"]
    assert answer.text == "one ü"


def test_a_program_that_takes_too_long_is_stopped(record: Record) -> None:
    """Patience with one prompt is bounded."""
    agent = CommandConversation(["tail", "-f", "/dev/null"], patience=timedelta(milliseconds=50))
    with pytest.raises(RuntimeFailed, match="was stopped"):
        ask(agent, "", record)


def test_who_cancels_a_prompt_ends_the_program(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with all that it started, also what does not listen to being asked."""
    monkeypatch.setattr("hubbub.node.runtimes.agent_program.GRACE", timedelta(milliseconds=100))
    pids: list[int] = []
    heard = asyncio.Event()

    async def hear(piece: str) -> None:
        pids.extend(map(int, piece.split()))
        heard.set()

    async def story() -> None:
        turn = asyncio.create_task(program(STUBBORN).say("", record.hands(), hear))
        await heard.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

    asyncio.run(story())

    assert len(pids) == 2
    assert all(ends(pid) for pid in pids)


def test_what_a_program_leaves_running_ends_with_it(record: Record) -> None:
    """An answer is there when the program has ended, even if a child of it holds the output open."""
    answer = ask(program("tail -f /dev/null & echo $!"), "", record)

    assert ends(int(answer.text))


def test_a_program_does_not_outlive_the_machine(record: Record) -> None:
    """Where the process that asked it is killed, the program ends with all that it started."""
    asking = f"""if True:
        import asyncio
        from pathlib import Path
        from hubbub.node.runtimes.custom_program import CommandConversation
        from hubbub.node.runtimes.conversation import ToolAccess
        async def hear(piece):
            print(piece, end="", flush=True)
        access = ToolAccess(node="here", folder=Path({str(record.folder)!r}), tools=(), call=None)
        asyncio.run(CommandConversation(["/bin/sh", "-c", {STUBBORN!r}]).say("", access, hear))
    """
    machine = subprocess.Popen([sys.executable, "-c", asking], stdout=subprocess.PIPE, text=True)
    assert machine.stdout is not None
    with machine.stdout as heard:
        pids = heard.readline().split()
    machine.kill()
    machine.wait()

    assert len(pids) == 2
    assert all(ends(int(pid)) for pid in pids)


@pytest.mark.parametrize(
    ("runtime", "sentence"),
    [
        (None, "no agent is configured on this machine; its operator names one under"),
        (OpenAIRuntime("http://127.0.0.1/v1", "m", key="NOT_SET_KEY"), "NOT_SET_KEY is not set"),
    ],
)
def test_a_machine_without_an_agent_says_how_to_get_one(runtime: Runtime | None, sentence: str) -> None:
    """A missing setting of the machine is named in one sentence."""
    with pytest.raises(RuntimeFailed, match=sentence):
        asyncio.run(conversation(runtime))
