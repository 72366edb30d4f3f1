"""Findings of a walk through a program, and the place in the program."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from shellgate.shell.assignments import StateChanges
from shellgate.shell.known_state import Value
from shellgate.shell.program import Doubt, FunctionCall, Place, SimpleCommand, Word


@dataclass(frozen=True, slots=True)
class Frame:
    """The surroundings of a command."""

    place: Place = Place.PLAIN
    function: str | None = None
    reads_from: SimpleCommand | None = None
    is_piped: bool = False
    is_background: bool = False
    is_looped: bool = False
    loop_is_endless: bool = False
    loop_multiplies: bool = False  # that loop does not wait for it
    is_condition: bool = False  # its failure ends nothing, whatever `set -e` says
    depth: int = 0


@dataclass(slots=True)
class Findings:
    """Everything found so far."""

    commands: list[SimpleCommand] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    calls: list[FunctionCall] = field(default_factory=list)
    functions: dict[str, StateChanges] = field(default_factory=dict)
    tainted: set[str] = field(default_factory=set)  # variables that functions change: never known again
    whole: StateChanges = field(default_factory=StateChanges)  # of the whole program
    mentioned: list[Word] = field(default_factory=list)  # words that are in no command
    too_large: str | None = None
    beginning: Mapping[str, Value] = field(default_factory=dict)  # the variables that it starts with
    has_functions: bool = False
    passes: int = 0  # through the bodies of loops
    evaluates: bool = False  # arithmetic, which runs subscripts in values of variables
    has_bracket: bool = False  # in a word
    has_dormant_code: bool = False  # a quoted text that would be run, were it a subscript

    def doubt(self, reason: str, source: str = "") -> None:
        """Note a doubt, once."""
        found = Doubt(reason, source)
        if found not in self.doubts:
            self.doubts.append(found)
