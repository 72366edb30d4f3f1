import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from shellgate.shell import walk
from shellgate.shell.known_state import EndStates, ShellState, Value
from tests.shellgate.shell.fuzzer.fuzzing import Fuzzer
from tests.shellgate.shell.fuzzer.programs import Writer
from tests.shellgate.shell.fuzzer.running import Bash, Call


@pytest.mark.parametrize("programs", [80, pytest.param(300, marks=pytest.mark.system)])
def test_bash_calls_nothing_that_the_reader_did_not_see(tmp_path: Path, programs: int) -> None:
    """No call of real bash in made-up programs, odd and broken ones among them, is missed without a doubt."""
    found = Fuzzer(tmp_path).run(seed=4, programs=programs)
    assert found.misses == []
    assert found.doubted < found.programs / 2
    assert found.calls > found.programs / 2


ODDITIES = (
    "readonly a=m\n $a x; a=n; $a y\n m z",  # the error ends its line, and not the program
    "m $_ $0 $? $# $- ${BASH_EXECUTION_STRING#m }\n cd - || m none; cd; cd -; m $OLDPWD",
    "exit; m no",
    "break; m a; return; m b; local x; m c",
    "exec nothing; m no",
    "${x:?}; m no\n m no",
    "m a &\n wait; m b",
    "trap 'm end' EXIT; set -e; false; m no",
    "m a; ( m b\n",
    "> ../told; > ~/x; m a",
)
HOLDING_UP = "m a; kill -STOP 0; m no"  # as a loop without end does, but leaves the processors to others


@pytest.mark.parametrize(
    "programs",
    [ODDITIES, pytest.param((HOLDING_UP, *range(150)), marks=[pytest.mark.system, pytest.mark.long])],
    ids=["odd", "made"],
)
def test_beside_others_a_program_calls_what_it_calls_alone(
    tmp_path: Path, programs: tuple[str | int, ...]
) -> None:
    """Programs that one bash runs tell the same calls as each of them in a bash of its own."""
    writer, bash = Writer(1), Bash(tmp_path)
    texts = [each if isinstance(each, str) else writer.program() for each in programs]
    texts = [text for text in texts if "$$" not in text]  # the number of its process is never the same
    bash.tidy(*range(len(texts)))
    for number, (text, calls) in enumerate(zip(texts, bash.together(texts), strict=True)):
        assert (text, _sorted(calls)) == (text, _sorted(bash.alone(text, number)))


def test_no_file_of_others_is_closed(tmp_path: Path) -> None:
    """However many files the process has open, real bash is run beside them, and they stay what they are."""
    bash, others = Bash(tmp_path), tmp_path / "others"
    bash.tidy(0)
    with ExitStack() as stack:
        files = [stack.enter_context(others.open("wb")) for _ in range(300)]

        assert [[call.words for call in calls] for calls in bash.together(["m a"])] == [[("m", "a")]]
        assert [call.words for call in bash.alone("m a")] == [("m", "a")]
        assert all(os.path.sameopenfile(each.fileno(), files[0].fileno()) for each in files)


def _sorted(calls: list[Call]) -> list[Call]:
    """What runs at the same time tells in any order."""
    return sorted(calls, key=lambda call: (call.folder, call.words))


@pytest.mark.system
def test_a_kind_of_command_that_is_not_walked_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison can fail: a reader that passes over the bodies of `if` is caught."""
    monkeypatch.setattr(
        walk._Statements, "_if", lambda _self, _command, state, _frame: EndStates(state, state)
    )
    assert Fuzzer(tmp_path, made_small=0).run(seed=1, programs=150).misses


@pytest.mark.system
def test_a_variable_that_is_believed_too_long_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison can fail: a reader that keeps what a variable held before it was changed is caught."""
    assign = ShellState.assign

    def keep(state: ShellState, name: str, value: Value) -> ShellState:
        return state if name in state.variables else assign(state, name, value)

    monkeypatch.setattr(ShellState, "assign", keep)
    assert Fuzzer(tmp_path, made_small=0).run(seed=1, programs=60).misses
