from pathlib import Path

import pytest

from shellgate.shell import walk
from shellgate.shell.known_state import EndStates, ShellState, Value
from tests.shellgate.shell.fuzzer.fuzzing import Fuzzer


@pytest.mark.parametrize("programs", [80, pytest.param(300, marks=pytest.mark.system)])
def test_bash_calls_nothing_that_the_reader_did_not_see(tmp_path: Path, programs: int) -> None:
    """No call of real bash in made-up programs, odd and broken ones among them, is missed without a doubt."""
    found = Fuzzer(tmp_path).run(seed=1, programs=programs)
    assert found.misses == []
    assert found.doubted < found.programs / 2
    assert found.clear_calls > found.programs / 2


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
