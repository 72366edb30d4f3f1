"""One simple command: its words, the code that it passes to bash, and its changes."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from shellgate.shell import code_arguments
from shellgate.shell.assignments import DECLARES, StateChanges, assigned, of_pieces, of_words, unwrapped
from shellgate.shell.cd import moved
from shellgate.shell.expansion import Expander
from shellgate.shell.findings import Findings, Frame
from shellgate.shell.known_state import EndStates, ShellState, Value, either
from shellgate.shell.program import (
    Assignment,
    FunctionCall,
    Glob,
    Place,
    Redirect,
    SimpleCommand,
    Text,
    Unknown,
    Word,
)
from shellgate.shell.syntax.shell_tokens import Elements, Piece, Plain, Redirection, Token, decode
from shellgate.shell.syntax.statements import Simple
from shellgate.world import World

_LEADS = frozenset({"CDPATH", "HOME", "OLDPWD", "PWD"})
_LONGEST = 64 * 1024  # characters that a variable is known to hold
_OF_COPROC = ("COPROC", "COPROC_PID")
_STARTS = frozenset({"coproc", "setsid"})
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_PLAIN = re.compile(r"[\w ./:@%+,=-]*")  # the same after another expansion
_LEAVE_WORDS = 2  # with more than a status, `exit` refuses


class InnerWalker(Protocol):
    """Walks what is inside a simple command."""

    def inside(self, pieces: Iterable[Piece], state: ShellState, frame: Frame) -> None:
        """The substitutions of words."""

    def code(self, text: str, state: ShellState, frame: Frame) -> StateChanges:
        """Read code from a text; return its possible changes."""


class SimpleCommandWalker:
    """Notes simple commands."""

    def __init__(
        self, text: str, world: World, notes: Findings, expander: Expander, inner: InnerWalker
    ) -> None:
        self._text, self._world, self._notes = text, world, notes
        self._expander, self._inner = expander, inner

    def run(self, simple: Simple, state: ShellState, frame: Frame) -> tuple[EndStates, SimpleCommand | None]:
        """Return what is known after a command, and the command."""
        if not self._begins_with_coproc(simple):
            return self._here(simple, state, frame)
        if frame.place is Place.SUBSTITUTION:
            self._notes.doubt(
                "it starts a coprocess in a substitution, whose text bash has been seen to misread"
            )
        frame = replace(frame, is_background=True, loop_multiplies=frame.is_looped)
        _, noted = self._here(replace(simple, words=_of_coproc(simple.words)), state, frame)
        after = state.forget(_OF_COPROC)  # else nothing: a shell of its own ran it
        return EndStates(after, after), noted

    def _begins_with_coproc(self, simple: Simple) -> bool:
        """Tell whether the reserved word precedes the words; a name that begins like it is the first of them."""
        is_first_word = bool(simple.words) and simple.words[0].start == simple.start
        return self._text.startswith("coproc", simple.start) and not is_first_word

    def _here(
        self, simple: Simple, state: ShellState, frame: Frame
    ) -> tuple[EndStates, SimpleCommand | None]:
        """Return what is known after a command of this shell, and the command."""
        assignments, tokens = _parted(simple.words)
        words, before = self._words(tokens, state, frame), state
        assigned_words, state = self._assignments(assignments, state, frame)
        expanded = before if words else state  # bash assigns first where there is no command
        redirects = tuple(self._redirect(each, expanded, frame) for each in simple.redirections)
        for name, word in self._named_descriptors(simple.redirections):
            state = self.assign(state, name, word)
        source = decode(self._text[simple.start : simple.end])
        seen = SimpleCommand(words, source, assigned_words, redirects)
        noted = self._note(seen, before, frame)
        if not words:
            return EndStates(state, state), noted
        is_calm = self._code(words, before, frame)
        changed = self._after_expansions(tokens, simple.redirections, before)
        if is_calm and words[0].value == "trap":
            return EndStates(changed, changed), noted
        ends = self._ends(simple, words, changed, frame)
        if simple.redirections:  # one may fail, and then the command does not run
            ends = EndStates(ends.success, either(ends.failure, changed))
        if _LEADS.intersection(each.name for each in assigned_words) and ends.success is not changed:
            ends = EndStates(changed.go(None), changed)  # a variable of its own told `cd` where to go
        return ends, noted

    def _words(self, tokens: list[Token], state: ShellState, frame: Frame) -> tuple[Word, ...]:
        words: list[Word] = []
        declares = bool(tokens) and tokens[0].plain in DECLARES
        for token in tokens:
            self._inner.inside(token.pieces, state, frame)
            found = assigned(token) if declares or _is_array(token) else None
            if found is not None and found[1]:
                words.append(self._declared(token, found[1], state))
            else:
                words += self._expander.words(token, state)
        return tuple(words)

    def _declared(self, token: Token, start: int, state: ShellState) -> Word:
        """Return `NAME=value` behind `export` and the like, which is not split; its value begins at `start`."""
        source = decode(token.source)
        if _is_array(token) or _has_open_brace(token):
            return Word((Text(source[:start]), Unknown(source)), source)
        value = self._expander.one(token, state, from_index=start, assigns=True)
        return Word((Text(source[:start]), *value.parts), source, value.is_quoted)

    def _assignments(
        self, tokens: list[Token], state: ShellState, frame: Frame
    ) -> tuple[tuple[Assignment, ...], ShellState]:
        found: list[Assignment] = []
        for token in tokens:
            self._inner.inside(token.pieces, state, frame)
            name, start, is_whole = assigned(token) or ("", 0, False)
            value = self._expander.one(token, state, from_index=start, assigns=True)
            appends = token.source[start - 2 : start - 1] == "+" if start > 1 else "+=" in token.source
            found.append(Assignment(name, value, appends))
            for piece in code_arguments.of_assignment(name, value):
                self._hand_over(piece, state, frame)
            if code_arguments.may_hide_code(token.source) and (not is_whole or _has_subscripts(token)):
                self._notes.evaluates = True
            if any(map(code_arguments.evaluates, [token.source] if not is_whole else _elements(token))):
                self._notes.evaluates = True
            held = _value(value) if is_whole and not _is_array(token) else None
            if appends:
                held = _joined(state.value(name), held)
            state = self.assign(state.forget(of_pieces(token.pieces).names), name, held)
        return tuple(found), state

    def assign(self, state: ShellState, name: str, value: Value) -> ShellState:
        """Return the state after an assignment; variables that functions change are never known."""
        return state.assign(name, None if name in self._notes.tainted else value)

    def watch(self, names: Iterable[str]) -> None:
        """Doubt a change of a variable that is code, unless its text was there to be read."""
        for name in filter(code_arguments.is_run, names):
            self._notes.doubt(f"{name} is changed in a way that was not read, and bash may run it")

    def _redirect(self, redirection: Redirection, state: ShellState, frame: Frame) -> Redirect:
        body = None
        if redirection.body is not None:
            self._inner.inside(redirection.body, state, frame)
            body = self._expander.body(redirection.body, state)
        target = None
        if redirection.target is not None:
            self._inner.inside(redirection.target.pieces, state, frame)
            target = self._target(redirection, state)
            if _is_expanded_again(redirection) and not _PLAIN.fullmatch(target.value or "$"):
                self._notes.doubt("bash expands the name behind >& twice, and runs code in it", target.source)
        if redirection.operator == "<<<":
            return Redirect("<<<", redirection.descriptor, None, target)
        return Redirect(redirection.operator, redirection.descriptor, target, body)

    def _target(self, redirection: Redirection, state: ShellState) -> Word:
        assert redirection.target is not None
        if redirection.operator == "<<<":
            return self._expander.one(redirection.target, state)
        words = self._expander.words(redirection.target, state)
        if len(words) == 1:
            return words[0]
        source = decode(redirection.target.source)
        return Word((Unknown(source),), source)

    def _named_descriptors(self, redirections: list[Redirection]) -> list[tuple[str, Value]]:
        names = [redirection.descriptor for redirection in redirections]
        return [(name[1:-1], None) for name in names if name is not None and name.startswith("{")]

    def _note(self, seen: SimpleCommand, state: ShellState, frame: Frame) -> SimpleCommand:
        """Note a command once for each folder that it may run in."""
        noted = replace(
            seen,
            place=frame.place,
            function=frame.function,
            reads_from=frame.reads_from,
            is_piped=frame.is_piped,
            is_background=frame.is_background,
            is_looped=frame.is_looped,
            loop_is_endless=frame.loop_is_endless,
            loop_multiplies=frame.loop_multiplies,
        )
        folders: tuple[str | None, ...] = state.folders if state.folders is not None else (None,)
        self._notes.commands += [replace(noted, cwd=folder) for folder in folders]
        name = seen.words[0].value if seen.words else None
        if frame.function is not None and name is not None:
            for callee in _called(seen.words, is_background=frame.is_background):
                is_background = frame.is_background or callee != name
                self._notes.calls.append(FunctionCall(frame.function, callee, is_background, frame.is_piped))
        return replace(noted, cwd=folders[0])

    def _code(self, words: tuple[Word, ...], state: ShellState, frame: Frame) -> bool:
        """Read what a command hands to bash as code; whether that changes nothing here, whenever it runs."""
        is_calm = not self._notes.has_functions
        for piece in code_arguments.of_command(words):
            is_calm = not self._hand_over(piece, state, frame) and is_calm
        values = unwrapped([word.value for word in words])
        if values[:1] == ["let"]:
            self._notes.evaluates = True
        if values[:1] == ["eval"] and None not in values:
            told = values[2:] if values[1:2] == ["--"] else values[1:]
            self._inner.code(" ".join(value or "" for value in told), state, frame)
        return is_calm

    def _hand_over(self, piece: code_arguments.CodeArgument, state: ShellState, frame: Frame) -> StateChanges:
        """Read a text's code as a program of its own, which may run at any later moment."""
        if piece.text is None:
            self._notes.doubt(piece.doubt)
            return StateChanges(all=True)
        return self._inner.code(
            piece.text, self.later(state), replace(frame, place=Place.TRAP, is_condition=True)
        )

    def later(self, state: ShellState) -> ShellState:
        """Return what is known of a moment that may come at any time from here on."""
        changes = self._notes.whole
        if changes.all:
            return state.forget_all()
        held, beginning = state.variables, self._notes.beginning
        state = state.forget(
            name
            for name, count in changes.names.items()
            if count > 1 or name not in held or held[name] is beginning.get(name)
        )
        is_settled = changes.moves == 0 or (changes.moves == 1 and state.previous is not None)
        return state if is_settled else state.go(None)

    def _after_expansions(
        self, tokens: list[Token], redirections: list[Redirection], state: ShellState
    ) -> ShellState:
        words = [token.pieces for token in tokens]
        words += [each.target.pieces if each.target else each.body or () for each in redirections]
        for pieces in words:
            names = of_pieces(pieces).names
            self.watch(names)
            state = state.forget(names)
        return state.forget(name for name, _ in self._named_descriptors(redirections))

    def _ends(self, simple: Simple, words: tuple[Word, ...], state: ShellState, frame: Frame) -> EndStates:
        values = [word.value for word in words]
        ends = self._own(list(unwrapped(values)), words, state)
        leaves = values[0] == "exit" or (values[0] == "return" and frame.function is not None)
        if (
            leaves
            and not simple.redirections
            and all(map(_is_status, values[1:]))
            and len(values) <= _LEAVE_WORDS
        ):
            ends = EndStates(None, None)
        if values[0] in self._notes.functions:  # if it was defined: that too may depend
            called = self._called(state)
            ends = EndStates(either(ends.success, called), either(ends.failure, called))
        return ends

    def _own(self, inner: list[str | None], words: tuple[Word, ...], state: ShellState) -> EndStates:
        """Return what is known after a command of bash itself, or of anyone."""
        match inner[:1]:
            case ["cd" | "pushd"]:
                return EndStates(state.go(moved(inner, state, self._world)), state)
            case ["true" | ":"]:
                return EndStates(state, None)
            case ["false"]:
                return EndStates(None, state)
            case ["set"]:
                return _set(inner, state)
        changes = of_words([_named(word) for word in words])
        if changes.all:
            state = state.forget_all()
        if changes.moves:
            state = state.go(None)
        self.watch(changes.names)
        known = self._exported(words) if inner[:1] == ["export"] else {}
        for changed in changes.names:
            state = self.assign(state, changed, known.get(changed))
        return EndStates(state, state)

    def _called(self, state: ShellState) -> ShellState:
        """After a call of one of the program's own functions."""
        for changes in self._notes.functions.values():
            if changes.all:
                state = state.forget_all()
            if changes.moves:
                state = state.go(None)
        return state

    def _exported(self, words: tuple[Word, ...]) -> dict[str, Value]:
        """Return the assignments of `export NAME=value`, if no option changes its effect."""
        if any(word.known_start.startswith("-") for word in words):
            return {}
        pairs = (word.value.partition("=") for word in words[1:] if word.value is not None)
        return {name: (Text(text),) for name, equals, text in pairs if equals and not name.endswith("+")}


def _of_coproc(words: list[Token]) -> list[Token]:
    """Return the words of the first command in `coproc NAME { …; }`, which tree-sitter does not know."""
    return words[2:] if len(words) > 2 and words[1].plain in {"{", "("} else words


def _called(words: tuple[Word, ...], *, is_background: bool) -> list[str]:
    """The functions that a command may call: by its name, by `coproc`, by a shell of its own in the background."""
    values = [word.value for word in words]
    name = values[0] or ""
    later = values[1:] if name in _STARTS or (is_background and name.rpartition("/")[2] in _SHELLS) else []
    return [name, *(value for value in later if value)]


def _parted(words: list[Token]) -> tuple[list[Token], list[Token]]:
    """The assignments before a command, and its words."""
    count = 0
    while count < len(words) and assigned(words[count]) is not None:
        count += 1
    return words[:count], words[count:]


def _has_open_brace(token: Token) -> bool:
    return any(isinstance(piece, Plain) and "{" in piece.text for piece in token.pieces)


def _is_array(token: Token) -> bool:
    return any(isinstance(piece, Elements) for piece in token.pieces)


def _elements(token: Token) -> list[str]:
    """Return the words of an array, as written."""
    return [word.source for each in token.pieces if isinstance(each, Elements) for word in each.words]


def _has_subscripts(token: Token) -> bool:
    """Tell whether an array has its elements numbered: `([1]=x)`."""
    arrays = (piece for piece in token.pieces if isinstance(piece, Elements))
    return any(word.source.startswith("[") for array in arrays for word in array.words)


def _named(word: Word) -> str | None:
    """A word's value, or as much of it as names a variable."""
    if word.value is not None:
        return word.value
    return word.known_start if "=" in word.known_start else None


def _value(word: Word) -> Value:
    parts = tuple(part for part in word.parts if isinstance(part, Text | Glob))
    if len(parts) != len(word.parts):
        return None
    return parts or (Text(""),)


def _joined(held: Value, more: Value) -> Value:
    if held is None or more is None or sum(len(part.text) for part in held + more) > _LONGEST:
        return None
    return held + more


def _is_expanded_again(redirection: Redirection) -> bool:
    """Tell whether bash makes `>file 2>&1` of it, and expands what the target was expanded to as the file's name."""
    return redirection.operator == ">&" and (redirection.descriptor or "1").lstrip("0") == "1"


def _is_status(word: str | None) -> bool:
    return word is not None and word.isdigit()


def _set(words: list[str | None], state: ShellState) -> EndStates:
    """`set -e` and `set -euo pipefail`, of nothing but options that it surely takes."""
    letters = [word[1:] for word in words[1:] if word and word[:1] == "-"]
    others = [word for word in words[1:] if not word or word[:1] != "-"]
    is_plain = set("".join(letters)) <= set("euxvo") and set(others) <= {"pipefail", "errexit", "nounset"}
    if is_plain and (any("e" in word for word in letters) or "errexit" in others):
        return EndStates(replace(state, exits_on_failure=True), None)
    state = replace(state, exits_on_failure=state.exits_on_failure and is_plain)
    return EndStates(state, state)
