"""Walks a program in bash's order of running, and notes every simple command with the known state there."""

from collections.abc import Iterable
from dataclasses import replace

from shellgate.shell import bash, code_arguments
from shellgate.shell.assignments import StateChanges, of_command, of_statements
from shellgate.shell.expansion import Expander
from shellgate.shell.findings import Findings, Frame
from shellgate.shell.known_state import EndStates, ShellState, Value, either
from shellgate.shell.program import Glob, Place, SimpleCommand, Text, Word
from shellgate.shell.simple_commands import SimpleCommandWalker
from shellgate.shell.syntax.grammar import Grammar
from shellgate.shell.syntax.lexer import Lexer
from shellgate.shell.syntax.quoting import NAME_STARTS, TooDeepError
from shellgate.shell.syntax.shell_tokens import (
    Arithmetic,
    Backquoted,
    Parameter,
    Piece,
    Plain,
    Quoted,
    Region,
    Substitution,
    decode,
    within,
)
from shellgate.shell.syntax.statements import AndOr, Command, Compound, Pipeline, Sequence, Simple
from shellgate.shell.syntax.tree import DEPTH_LIMIT, parse
from shellgate.world import World

COMMAND_LIMIT = 500
_TOO_DEEP = f"it is nested deeper than {DEPTH_LIMIT} levels"
_PASSES = 64  # through the bodies of loops over known words, in all


class ProgramWalker:
    """Reads one text and all texts in it that are code."""

    def __init__(self, world: World, notes: Findings) -> None:
        self.world, self.notes = world, notes
        self._count = 0

    def text(self, text: str, state: ShellState, frame: Frame) -> StateChanges:
        """Read a piece of shell, and return its possible changes."""
        if self.notes.too_large:  # what is over a limit is not read to its end
            return StateChanges(all=True)
        source = text.encode("utf-8", "surrogateescape")
        tree = parse(source)
        if tree.depth + frame.depth > DEPTH_LIMIT:
            self.notes.too_large = _TOO_DEEP
            return StateChanges(all=True)
        lexer = Lexer(source.decode("latin-1"), tree)
        try:
            region = lexer.code(0, len(source))
        except TooDeepError:
            self.notes.too_large = _TOO_DEEP
            return StateChanges(all=True)
        grammar = Grammar(tree)
        self.notes.has_functions = self.notes.has_functions or tree.has_functions
        self._count += len(tree.simple)
        if self._count > COMMAND_LIMIT:
            self.notes.too_large = f"it has more than {COMMAND_LIMIT} commands"
            return StateChanges(all=True)
        changes = _Statements(self, lexer.text, grammar, tree.depth).top(region, state, frame)
        if not grammar.agree():
            self.notes.doubt("it has a command that is none to one of two readers")
        for reason in (*tree.doubts, *lexer.doubts, *grammar.doubts):
            self.notes.doubt(reason)
        if not tree.is_plain and bash.refuses(text):
            self.notes.doubt("bash does not understand it")
        return changes


class _Statements:
    """Walks the statements of one text."""

    def __init__(self, walk: "ProgramWalker", text: str, grammar: Grammar, depth: int) -> None:
        self._walk, self._grammar, self._depth = walk, grammar, depth
        world, notes = walk.world, walk.notes
        self._notes = notes
        self._expander = Expander(world)
        self._simple = SimpleCommandWalker(text, world, notes, self._expander, self)

    def top(self, region: Region, state: ShellState, frame: Frame) -> StateChanges:
        statements = self._grammar.region(region)
        foreseen = of_statements(statements, self._grammar.region)
        self._notes.whole.add(foreseen)
        self._notes.tainted |= foreseen.typed
        self._notes.evaluates = self._notes.evaluates or bool(foreseen.typed)  # whole numbers, maybe
        self.sequence(statements, state, frame)
        for reason in self._expander.doubts:
            self._notes.doubt(reason)
        return of_statements(statements)

    def code(self, text: str, state: ShellState, frame: Frame) -> StateChanges:
        """Read code from a text, and return its possible changes."""
        return self._walk.text(text, state, replace(frame, depth=frame.depth + self._depth + 1))

    def inside(self, pieces: Iterable[Piece], state: ShellState, frame: Frame) -> None:
        """Walk all substitutions in words; they run in shells of their own."""
        for piece in within(tuple(pieces)):
            if isinstance(piece, Substitution | Backquoted):
                nested = replace(frame, place=_nested(frame.place), reads_from=None, is_condition=True)
                if isinstance(piece, Substitution) and piece.opener != "$(":
                    nested = replace(nested, is_background=True, loop_multiplies=frame.is_looped)
                if isinstance(piece, Substitution):
                    self.sequence(self._grammar.region(piece.region), state, nested)
                else:
                    self.code(decode(piece.text), state, nested)
            else:
                self._look(piece)

    def _look(self, piece: Piece) -> None:
        """Note what could make code of a text that is none where it stands."""
        notes = self._notes
        if isinstance(piece, Quoted | Plain):
            notes.has_bracket = notes.has_bracket or "[" in piece.text
            hides = isinstance(piece, Quoted) and code_arguments.may_hide_code(piece.text)
            notes.has_dormant_code = notes.has_dormant_code or hides
        elif isinstance(piece, Parameter) and piece.source.endswith("@P}"):
            notes.doubt("it expands what a variable holds as code is")
        elif _evaluates(piece):
            notes.evaluates = True
            is_element = isinstance(piece, Parameter) and "[]" in piece.operator
            notes.has_bracket = notes.has_bracket or is_element

    def sequence(self, statements: Sequence, state: ShellState, frame: Frame) -> EndStates:
        ends = EndStates(state, None)
        last = state
        for and_or in statements.lists:
            stops = last.exits_on_failure and not frame.is_condition
            last = (ends.success if stops else ends.any) or last
            reached = ends.any is not None
            ends = self._list(and_or, last, frame)
            if not reached:
                ends = EndStates(last, last)
        return ends

    def _list(self, and_or: AndOr, state: ShellState, frame: Frame) -> EndStates:
        if and_or.is_background:
            self._pipelines(
                and_or, state, replace(frame, is_background=True, loop_multiplies=frame.is_looped)
            )
            return EndStates(state, None)
        ends = self._pipelines(and_or, state, frame)
        if len(and_or.pipelines) > 1 and state.exits_on_failure:
            return EndStates(ends.any, None)  # a failure within a list does not end the program
        return ends

    def _pipelines(self, and_or: AndOr, state: ShellState, frame: Frame) -> EndStates:
        conditional = replace(frame, is_condition=True) if and_or.operators else frame
        ends = self._pipeline(and_or.pipelines[0], state, conditional)
        for operator, pipeline in zip(and_or.operators, and_or.pipelines[1:], strict=True):
            entered = ends.success if operator == "&&" else ends.failure
            result = self._pipeline(pipeline, entered or state, conditional)
            if entered is None:
                continue
            if operator == "&&":
                ends = EndStates(result.success, either(ends.failure, result.failure))
            else:
                ends = EndStates(either(ends.success, result.success), result.failure)
        return ends

    def _pipeline(self, pipeline: Pipeline, state: ShellState, frame: Frame) -> EndStates:
        if pipeline.is_negated:
            frame = replace(frame, is_condition=True)
        if len(pipeline.commands) == 1:
            ends, _ = self._command(pipeline.commands[0], state, frame)
            return EndStates(ends.failure, ends.success) if pipeline.is_negated else ends
        before: SimpleCommand | None = frame.reads_from
        for number, command in enumerate(pipeline.commands):
            piped = replace(frame, is_piped=frame.is_piped or number > 0, reads_from=before)
            _, before = self._command(command, state, piped)
        return EndStates(state, state)

    def _command(
        self, command: Command, state: ShellState, frame: Frame
    ) -> tuple[EndStates, SimpleCommand | None]:
        if isinstance(command, Simple):
            return self._simple.run(command, state, frame)
        if command.redirections:
            around = Simple(command.start, command.start, [], command.redirections)
            _, noted = self._simple.run(around, state, frame)
            if any(each.operator.startswith("<") for each in command.redirections):
                frame = replace(frame, reads_from=noted, is_piped=False)
        ends = self._compound(command, state, frame)
        if command.redirections:  # one may fail, and then nothing of it runs
            ends = EndStates(ends.success, either(ends.failure, state))
        return ends, None

    def _compound(self, command: Compound, state: ShellState, frame: Frame) -> EndStates:
        if command.kind == "subshell":
            self._bodies(command, state, frame)
            return EndStates(state, state)
        walks = {
            "if_statement": self._if,
            "while_statement": self._while,
            "c_style_for_statement": self._while,
            "for_statement": self._for,
            "case_statement": self._case,
            "function_definition": self._function,
        }
        return walks.get(command.kind, self._group)(command, state, frame)

    def _bodies(self, command: Compound, state: ShellState, frame: Frame) -> ShellState | None:
        """Walk bodies one after another."""
        after: ShellState | None = state
        for body in command.bodies:
            after = self.sequence(body, after or state, frame).any
        return after

    def _group(self, command: Compound, state: ShellState, frame: Frame) -> EndStates:
        """`{ … }`, `[[ … ]]`, `((…))`."""
        if command.expression is None:
            ends = EndStates(state, None)
            for body in command.bodies:
                ends = self.sequence(body, ends.any or state, frame)
            return ends
        state = self._expression(command, state, frame)
        return EndStates(state, state)

    def _expression(self, command: Compound, state: ShellState, frame: Frame) -> ShellState:
        assert command.expression is not None
        mentioned = decode(command.expression.text)
        self._notes.mentioned.append(Word((Text(mentioned),), mentioned))
        self.inside(command.expression.pieces, state, frame)
        if command.kind != "test_command" or any(
            operator in command.expression.text
            for operator in (" -v ", " -eq ", " -ne ", " -lt ", " -le ", " -gt ", " -ge ")
        ):
            self._notes.evaluates = True
        return state.forget(of_command(command).names)

    def _if(self, command: Compound, state: ShellState, frame: Frame) -> EndStates:
        ends: EndStates = EndStates(None, None)
        entered: ShellState | None = state
        for keyword, body in zip(command.keywords, command.bodies, strict=False):
            if keyword in {"if", "elif"}:
                condition = self.sequence(body, entered or state, replace(frame, is_condition=True))
                entered = condition.failure if entered else None
            else:
                begins = condition.success if keyword == "then" else entered
                result = self.sequence(body, begins or state, frame)
                if begins is not None:
                    ends = EndStates(
                        either(ends.success, result.success), either(ends.failure, result.failure)
                    )
        if "else" not in command.keywords:
            ends = EndStates(either(ends.success, entered), ends.failure)
        return ends

    def _while(self, command: Compound, state: ShellState, frame: Frame) -> EndStates:
        if command.expression is not None:
            state = self._expression(command, state, frame)
        state = self._changed(state, of_command(command))
        multiplies = frame.loop_multiplies and frame.loop_is_endless
        looped = replace(
            frame,
            is_looped=True,
            loop_is_endless=multiplies or _is_endless(command),
            loop_multiplies=multiplies,
        )
        after = self._bodies(command, state, looped)
        after = either(state, after) or state
        return EndStates(after, after)

    def _changed(self, state: ShellState, changes: StateChanges) -> ShellState:
        """Return what is known at the start of a body that runs again and again."""
        if changes.all:
            state = state.forget_all()
        if changes.moves:
            state = state.go(None)
        return state.forget(changes.names)

    def _for(self, command: Compound, state: ShellState, frame: Frame) -> EndStates:
        words: list[Word] = []
        for token in command.words[1:]:
            self.inside(token.pieces, state, frame)
            words += self._expander.words(token, state)
        self._notes.mentioned += words
        values = [_value(word) for word in words]
        before = self._changed(state, of_command(command))
        name = command.words[0].source if command.words else ""
        self._simple.watch([name])
        if name == "PATH" or name.startswith(("LD_", "DYLD_")):
            self._notes.doubt(f"it loops over {name}, which changes what each name of a command means")
        looped = replace(frame, is_looped=True)
        is_known = "in" in command.keywords and "for" in command.keywords and None not in values
        if not is_known or self._notes.passes + len(values) > _PASSES or not values:
            values = [None]
        after: ShellState | None = state
        self._notes.passes += len(values)
        for value in values:
            self._expander.split_pattern = False
            after = either(after, self._pass(command, name, value, before, looped))
            if self._expander.split_pattern and value is not None:
                after = either(after, self._pass(command, name, None, before, looped))
        after = either(after, before) or state
        return EndStates(after, after)

    def _pass(
        self, command: Compound, name: str, value: Value, state: ShellState, frame: Frame
    ) -> ShellState | None:
        """Once through a loop's body."""
        return self._bodies(command, self._simple.assign(state, name, value), frame)

    def _case(self, command: Compound, state: ShellState, frame: Frame) -> EndStates:
        for token in command.words:
            self.inside(token.pieces, state, frame)
        before = self._changed(state, of_command(command))  # `;&` goes from one body into the next
        after: ShellState | None = before
        for body in command.bodies:
            after = either(after, self.sequence(body, before, frame).any)
        return EndStates(after, after)

    def _function(self, command: Compound, state: ShellState, frame: Frame) -> EndStates:
        name = decode(command.words[0].source) if command.words else ""
        changes = StateChanges()
        for body in command.bodies:
            changes.add(of_statements(body))
        self._notes.functions[name] = changes
        self._notes.tainted.update(changes.names)
        later = self._simple.later(state).forget(changes.names)
        self._bodies(command, later, Frame(Place.FUNCTION, name, is_condition=True, depth=frame.depth))
        return EndStates(state.forget(changes.names), None)


def _evaluates(piece: Piece) -> bool:
    """Tell whether a piece evaluates arithmetic that may hold a variable."""
    if isinstance(piece, Arithmetic):
        return _has_names(piece.text)
    if not isinstance(piece, Parameter) or not piece.inside:
        return piece.prefix == "!" if isinstance(piece, Parameter) else False
    is_slice = piece.operator == "…" and piece.source.startswith(f"${{{piece.name}:")
    return is_slice or "[]" in piece.operator


def _has_names(text: str) -> bool:
    return any(mark in NAME_STARTS or mark in "$`" for mark in text)


def _nested(place: Place) -> Place:
    return Place.SUBSTITUTION if place is Place.PLAIN else place


def _value(word: Word) -> Value:
    parts = tuple(part for part in word.parts if isinstance(part, Text | Glob))
    return parts if len(parts) == len(word.parts) else None


def _is_endless(command: Compound) -> bool:
    """Tell whether a loop's condition is constant."""
    if command.kind == "c_style_for_statement":
        header = command.expression.text[2:-2].split(";") if command.expression else []
        return len(header) != 3 or not header[1].strip() or header[1].strip() == "1"
    condition = command.bodies[0].lists if command.bodies else []
    if len(condition) != 1 or len(condition[0].pipelines) != 1:
        return False
    first = condition[0].pipelines[0].commands[0]
    if isinstance(first, Compound):
        if first.kind == "test_command":
            return first.expression is not None and "$" not in first.expression.text
        return first.kind == "compound_statement" and first.expression is not None and not _names(first)
    return (
        all(token.plain is not None for token in first.words)
        and first.words[0].plain in {"true", ":", "false", "[", "test", "echo", "printf", "let", "expr"}
        if first.words
        else True
    )


def _names(command: Compound) -> bool:
    return command.expression is None or any(mark.isalpha() for mark in command.expression.text)
