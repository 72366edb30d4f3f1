"""Structure of a region's tokens: lists, pipes and compound commands.

Lists, pipes and simple commands are read from our own tokens; tree-sitter decides the place and the kind of a compound
command. Each token is used once, and an unused one is a doubt.
"""

from bisect import bisect_left

from tree_sitter import Node

from shellgate.shell.syntax.shell_tokens import AnyToken, Expression, Operator, Redirection, Region, Token
from shellgate.shell.syntax.statements import AndOr, Command, Compound, Pipeline, Sequence, Simple
from shellgate.shell.syntax.tree import Tree

_RESERVED = """
! { } [[ ]] case coproc do done elif else esac fi for function if in select then time until while
"""
RESERVED = frozenset(_RESERVED.split())


_SIGN_WORDS = """
if then elif else fi while until do done for select { } ( ) (( ))
"""
_SIGNS = frozenset(_SIGN_WORDS.split())


class Grammar:
    """Reads regions; `doubts` gathers where the two readers differ, `simple` where simple commands were found."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.doubts: list[str] = []
        self.simple: set[int] = set()
        self._read: dict[int, Sequence] = {}
        self.timed: set[int] = set()  # behind `time`, which is the simple command to tree-sitter

    def agree(self) -> bool:
        """Tell whether both found simple commands in the same places."""
        return self.simple - self.timed == self.tree.simple

    def region(self, region: Region) -> Sequence:
        """All of a region; it is read once, however often it is walked."""
        if region.start not in self._read:
            self._read[region.start] = _Tokens(self, region.tokens, 0, len(region.tokens)).sequence()
        return self._read[region.start]


class _Tokens:
    """Tokens being read, from `index` to `end`."""

    def __init__(self, grammar: Grammar, tokens: tuple[AnyToken, ...], index: int, end: int) -> None:
        self.grammar, self.tokens, self.index, self.end = grammar, tokens, index, end

    def _doubt(self, reason: str) -> None:
        self.grammar.doubts.append(reason)

    def _operator(self) -> str | None:
        if self.index < self.end:
            token = self.tokens[self.index]
            if isinstance(token, Operator):
                return token.text
        return None

    def _plain(self) -> str | None:
        """The unquoted word that comes next."""
        if self.index < self.end:
            token = self.tokens[self.index]
            if isinstance(token, Token):
                return token.plain
        return None

    def sequence(self) -> Sequence:
        found = Sequence()
        while self.index < self.end:
            operator = self._operator()
            if operator in {"\n", ";", "&"}:
                self.index += 1
            elif operator is not None and not self._opens_subshell():
                self._doubt("it has an operator where none belongs")
                self.index += 1
            else:
                found.lists.append(self._and_or())
        return found

    def _opens_subshell(self) -> bool:
        return self._operator() == "(" and self.tokens[self.index].start in self.grammar.tree.compounds

    def _and_or(self) -> AndOr:
        found = AndOr([self._pipeline()])
        while self._operator() in {"&&", "||"}:
            found.operators.append(self._operator() or "")
            self._after_operator()
            found.pipelines.append(self._pipeline())
        found.is_background = self._operator() == "&"
        return found

    def _after_operator(self) -> None:
        self.index += 1
        while self._operator() == "\n":
            self.index += 1

    def _pipeline(self) -> Pipeline:
        found = Pipeline()
        while self._plain() in {"!", "time"}:
            if self._plain() == "time":
                self._time()
            else:
                found.is_negated = not found.is_negated
                self.index += 1
        found.commands.append(self._command())
        while self._operator() in {"|", "|&"}:
            self._after_operator()
            found.commands.append(self._command())
        return found

    def _time(self) -> None:
        """Pass over `time`, its option and `--`; the tree has a simple command there."""
        self.grammar.simple.add(self.tokens[self.index].start)
        self.index += 1
        if self._plain() == "-p":
            self.index += 1
        if self._plain() == "--":
            self.index += 1
        following = self._plain()
        if following in RESERVED or self.index >= self.end or not isinstance(self.tokens[self.index], Token):
            self._doubt("it times more than a simple command")
        self.grammar.timed.update(token.start for token in self.tokens[self.index : self.index + 1])

    def _command(self) -> Command:
        if self.index < self.end:
            token = self.tokens[self.index]
            node = self.grammar.tree.compounds.pop(token.start, None)  # read once, whatever it is read as
            if node is not None:
                return self._compound(node)
            if isinstance(token, Expression):
                self.index += 1
                self.grammar.simple.add(token.start)
                return self._redirected(Compound("test_command", token.start, expression=token))
        return self._simple()

    def _simple(self) -> Simple:
        start = self.tokens[self.index].start if self.index < self.end else -1
        found = Simple(start)
        self.grammar.simple.add(start)
        while self.index < self.end:
            token = self.tokens[self.index]
            if isinstance(token, Redirection):
                found.redirections.append(token)
            elif isinstance(token, Token):
                if not found.words and token.plain in RESERVED:
                    self._reserved(token.plain)
                else:
                    found.words.append(token)
            elif isinstance(token, Expression):
                self._doubt("it has an expression where none belongs")
            else:
                break
            found.end = token.end
            self.index += 1
        if not found.words and not found.redirections:
            self._doubt("a command is missing where one belongs")
        return found

    def _reserved(self, word: str | None) -> None:
        """A reserved word where a command's name belongs: what follows it is read as if it were not there."""
        following = self.tokens[self.index + 1] if self.index + 1 < self.end else None
        is_plain_coproc = (
            word == "coproc" and isinstance(following, Token) and following.plain not in RESERVED
        )
        if not is_plain_coproc:
            self._doubt(f"it has the reserved word `{word}` as the name of a command")

    def _redirected(self, command: Compound) -> Compound:
        """The redirections that follow a compound command."""
        while self.index < self.end:
            token = self.tokens[self.index]
            if isinstance(token, Redirection):
                command.redirections.append(token)
            elif isinstance(token, Operator):
                break
            else:
                self._doubt("it has a word after a compound command")
                break
            self.index += 1
        return command

    def _at(self, offset: int) -> int:
        """Return the token that starts at an offset, or the first behind it."""
        return bisect_left(self.tokens, offset, self.index, self.end, key=lambda token: token.start)

    def _compound(self, node: Node) -> Compound:
        found = Compound(node.type, node.start_byte)
        stop = self._at(node.end_byte)
        inside = _Tokens(self.grammar, self.tokens, self.index, stop)
        self.index = max(stop, self.index + 1)
        match node.type:
            case "case_statement":
                inside.case(found, node)
            case "function_definition":
                inside.function(found, node)
            case "for_statement":
                inside.loop_over(found, node)
            case _:
                inside.between(found, _keywords(node))
        return self._redirected(found)

    def between(self, found: Compound, keywords: list[Node]) -> None:
        """The bodies between keywords."""
        for number, keyword in enumerate(keywords):
            if not self._take(keyword):
                found.bodies.append(self.sequence())
                return
            found.keywords.append(keyword.type)
            if keyword.type == "((":
                self.index -= 1
            if keyword.type in {"for", "(("} and self.index < self.end:
                found.expression = self._expression()
            if number + 1 < len(keywords):
                stop = self._at(keywords[number + 1].start_byte)
                found.bodies.append(_Tokens(self.grammar, self.tokens, self.index, stop).sequence())
                self.index = stop
        if self.index < self.end:
            self._doubt("a compound command ends otherwise to one of two readers")

    def _expression(self) -> Expression | None:
        token = self.tokens[self.index]
        if not isinstance(token, Expression):
            self._doubt("it has arithmetic that is none to one of two readers")
            return None
        self.index += 1
        return token

    def _take(self, keyword: Node) -> bool:
        """Pass over a keyword, if it is one to our own lexer too."""
        token = self.tokens[self.index] if self.index < self.end else None
        text = (
            token.plain if isinstance(token, Token) else token.text if isinstance(token, Operator) else None
        )
        if isinstance(token, Expression) and keyword.type == "((":
            text = "(("
        if token is None or token.start != keyword.start_byte or text != keyword.type:
            self._doubt("a compound command is read otherwise by one of two readers")
            return False
        self.index += 1
        return True

    def loop_over(self, found: Compound, node: Node) -> None:
        """`for NAME in WORDS; do …` and `select`."""
        keywords = _keywords(node)
        if not keywords or not self._take(keywords[0]):
            found.bodies.append(self.sequence())
            return
        found.keywords.append(keywords[0].type)
        name = self.tokens[self.index] if self.index < self.end else None
        if isinstance(name, Token):
            found.words.append(name)
            self.index += 1
        while self._operator() == "\n":
            self.index += 1
        if self._plain() == "in":
            found.keywords.append("in")
            self.index += 1
            while self.index < self.end and isinstance(word := self.tokens[self.index], Token):
                found.words.append(word)
                self.index += 1
        while self._operator() in {";", "\n"}:
            self.index += 1
        self.between(found, [keyword for keyword in keywords if keyword.type in {"do", "done", "{", "}"}])

    def case(self, found: Compound, node: Node) -> None:
        """`case WORD in PATTERNS) … esac`."""
        self.index += 1
        if self.index < self.end and isinstance(word := self.tokens[self.index], Token):
            found.words.append(word)
            self.index += 1
        while self._operator() == "\n":
            self.index += 1
        if self._plain() != "in":
            self._doubt("a `case` could not be read")
        self.index += 1
        for item in node.children:
            if item.type == "case_item":
                self._case_item(found, item)
        while self._operator() == "\n":
            self.index += 1
        if self._plain() != "esac" or self.index + 1 != self.end:
            self._doubt("a `case` ends otherwise to one of two readers")

    def _case_item(self, found: Compound, item: Node) -> None:
        while self._operator() == "\n":
            self.index += 1
        stop = self._at(item.end_byte)
        if self._operator() == "(":
            self.index += 1
        if self._plain() == "esac":
            self._doubt("a `case` ends otherwise to one of two readers")
        while self._operator() != ")" and self.index < stop:
            token = self.tokens[self.index]
            if isinstance(token, Token):
                found.words.append(token)
            elif not (isinstance(token, Operator) and token.text == "|"):
                self._doubt("a pattern of a `case` could not be read")
            self.index += 1
        self.index += 1
        last = self.tokens[stop - 1] if stop - 1 >= self.index else None
        is_ended = isinstance(last, Operator) and last.text in {";;", ";&", ";;&"}
        body_end = stop - 1 if is_ended else stop
        found.bodies.append(_Tokens(self.grammar, self.tokens, self.index, body_end).sequence())
        self.index = stop

    def function(self, found: Compound, node: Node) -> None:
        """`NAME() BODY`, `function NAME BODY`."""
        if self._plain() == "function" and node.children[0].type == "function":
            self.index += 1
        name = self.tokens[self.index] if self.index < self.end else None
        if isinstance(name, Token):
            found.words.append(name)
            self.index += 1
        if self._operator() == "(":
            self.index += 1
            if self._operator() != ")":
                self._doubt("a function could not be read")
            self.index += 1
        while self._operator() == "\n":
            self.index += 1
        body = _Tokens(self.grammar, self.tokens, self.index, self.end).sequence()
        if len(body.lists) != 1 or not isinstance(body.lists[0].pipelines[0].commands[0], Compound):
            self._doubt("a function's body could not be read")
        found.bodies.append(body)


def _keywords(node: Node) -> list[Node]:
    """Return the keywords and signs of a compound command, those of its clauses included."""
    found: list[Node] = []
    for child in node.children:
        if child.type in {"elif_clause", "else_clause", "do_group"} or (
            child.type == "compound_statement" and node.type == "c_style_for_statement"
        ):
            found += _keywords(child)
        elif not child.is_named and child.type in _SIGNS:
            found.append(child)
    if node.type == "c_style_for_statement":
        return [keyword for keyword in found if keyword.type not in {"((", "))"}]
    if found and found[0].type == "((":
        return found[:1]
    return found
