"""Statements of bash as our own grammar has them: lists of pipelines of commands."""

from dataclasses import dataclass, field

from shellgate.shell.syntax.shell_tokens import Expression, Redirection, Token


@dataclass(slots=True)
class Simple:
    """Words and redirections."""

    start: int
    end: int = 0
    words: list[Token] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)


@dataclass(slots=True)
class Compound:
    """A compound command: `kind` is tree-sitter's word, `bodies` its parts between its keywords, in order."""

    kind: str
    start: int
    bodies: list["Sequence"] = field(default_factory=list)
    words: list[Token] = field(default_factory=list)  # of `for`, of `case` and its patterns
    keywords: list[str] = field(default_factory=list)
    expression: Expression | None = None
    redirections: list[Redirection] = field(default_factory=list)


Command = Simple | Compound


@dataclass(slots=True)
class Pipeline:
    commands: list[Command] = field(default_factory=list)
    is_negated: bool = False


@dataclass(slots=True)
class AndOr:
    """Pipelines, with the operator before each but the first."""

    pipelines: list[Pipeline] = field(default_factory=list)
    operators: list[str] = field(default_factory=list)
    is_background: bool = False


@dataclass(slots=True)
class Sequence:
    lists: list[AndOr] = field(default_factory=list)
