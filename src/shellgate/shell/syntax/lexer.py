"""Our own lexer of bash: operators, words, redirections, comments and here-documents.

tree-sitter alone misreads some things silently. So the text is read twice, and where the two do not agree on a token,
there is a doubt.
"""

import re

from shellgate.shell.syntax.quoting import NAME_STARTS, Pieces, is_name
from shellgate.shell.syntax.shell_tokens import (
    AnyToken,
    Elements,
    Expression,
    Operator,
    Piece,
    Plain,
    Quoted,
    Redirection,
    Region,
    Token,
)
from shellgate.shell.syntax.tree import Tree

_BLANKS = frozenset(" \t")
_ENDS = frozenset(" \t\n;&|()<>")
_OPERATORS = (";;&", "&&", "||", "|&", ";;", ";&", ";", "&", "|", "(", ")")
_DUPLICATES = frozenset({">&", "<&"})
_REDIRECTIONS = ("&>>", "<<-", "<<<", "&>", ">>", ">|", ">&", "<<", "<&", "<>", ">", "<")
_NEAR_CONTINUATION = _BLANKS | {"\n"}

# All that may stand behind a quoted here-document's start: a document that its text goes to, by a plain name.
_TO_A_DOCUMENT = re.compile(r"[ \t]*>>?[ \t]*[A-Za-z0-9_./+@-]+\.(?:md|markdown|rst|adoc)[ \t]*")


class Lexer:
    """The tokens of a text, nested substitutions included; `doubts` gathers what may be read otherwise."""

    def __init__(self, text: str, tree: Tree) -> None:
        self.text = text
        self.doubts: list[str] = []
        self._tree = tree
        self._pieces = Pieces(text, tree, self.code, self.doubts)

    def code(self, start: int, end: int) -> Region:
        """The tokens between two offsets."""
        return _Code(self.text, self._tree, self._pieces, start, end).region()


class _Code:
    """One region of code, being read."""

    def __init__(self, text: str, tree: Tree, pieces: Pieces, start: int, end: int) -> None:
        self.text, self._tree, self._pieces = text, tree, pieces
        self.start, self.index, self.end = start, start, end
        self.tokens: list[AnyToken] = []
        self._awaited: list[
            tuple[int, str, bool, bool]
        ] = []  # here-documents whose bodies come with the next line

    def region(self) -> Region:
        while self.index < self.end:
            self._token()
        if self._awaited:
            self._doubt("a here-document is not ended")
        if self.index > self.end:
            self._doubt("a substitution ends otherwise to one of two readers")
        if self.start and self._has_list_after_document():
            self._doubt(
                "a substitution goes on behind a here-document in it, which bash has been seen to misread"
            )
        return Region(self.start, self.end, tuple(self.tokens))

    def _has_list_after_document(self) -> bool:
        """Tell whether a semicolon follows a here-document: bash 5.2 loses it when it keeps a substitution's text."""
        has_document = False
        for token in self.tokens:
            has_document = has_document or (isinstance(token, Redirection) and token.body is not None)
            if has_document and isinstance(token, Operator) and token.text == ";":
                return True
        return False

    def _doubt(self, reason: str) -> None:
        self._pieces.doubts.append(reason)

    def _token(self) -> None:
        character = self.text[self.index]
        if character in _BLANKS:
            self.index += 1
        elif character == "\\" and self.text[self.index + 1 : self.index + 2] == "\n":
            self._continuation()
        elif character == "\n":
            self.tokens.append(Operator(self.index, self.index + 1, "\n"))
            self.index += 1
            self._documents()
        elif character == "#":
            self._comment()
        elif self._opens_expression():
            self._expression()
        elif character in "<>&" and self._redirection(None):
            pass
        elif character in _ENDS and not self._is_process_substitution():
            self._operator()
        else:
            self._word()

    def _continuation(self) -> None:
        before = self.text[self.index - 1] if self.index > self.start else "\n"
        after = self.text[self.index + 2 : self.index + 3]
        if before not in _NEAR_CONTINUATION and after not in _NEAR_CONTINUATION:
            self._doubt("a line is continued inside a word or an operator")
        self.index += 2

    def _comment(self) -> None:
        close = self.text.find("\n", self.index, self.end)
        if close < 0:
            if self.end < len(self.text):
                self._doubt("a substitution ends in a comment")
            close = self.end
        self._pieces.kept(self.text[self.index : close + 1])
        self.index = close

    def _operator(self) -> None:
        for operator in _OPERATORS:
            if self.text.startswith(operator, self.index, self.end):
                self.tokens.append(Operator(self.index, self.index + len(operator), operator))
                if self.text.startswith("((", self.index):
                    self._doubt("it has `((` that is no arithmetic to one of two readers")
                if self._tree.operators.get(self.index) != operator:
                    self._doubt("it has an operator that is none to one of two readers")
                self.index += len(operator)
                return
        self._doubt("it has a redirection that could not be read")
        self.index += 1

    def _opens_expression(self) -> bool:
        if self.index not in self._tree.expressions:
            return False
        text = self.text
        return text.startswith("((", self.index) or (
            text.startswith("[[", self.index) and text[self.index + 2 : self.index + 3] in _NEAR_CONTINUATION
        )

    def _expression(self) -> None:
        start = self.index
        if self.text[start] == "(":
            close = self._pieces.balanced(start + 2, self.end)
            stop = -1 if close is None or self.text[close : close + 2] != "))" else close + 2
        else:
            stop = self._condition_end(start + 2)
        said = self._tree.expressions[start]
        if stop < 0 or (said >= 0 and said != stop):
            self._doubt("it has an expression that ends otherwise to one of two readers")
            stop = stop if stop >= 0 else self.end
        pieces = self._pieces.expression(start + 2, stop - 2)
        self.tokens.append(Expression(start, stop, self.text[start:stop], tuple(pieces)))
        self.index = stop

    def _condition_end(self, index: int) -> int:
        """Return where `]]` ends a condition; -1 if it does not."""
        while index < self.end:
            if self.text[index] in _NEAR_CONTINUATION:
                index += 1
                continue
            if self.text[index] == "#":
                self._doubt("it has a comment in a condition")
            start = index
            _, index = self._pieces.until(index, self.end, _NEAR_CONTINUATION)
            if self.text[start:index].rstrip(";&|)") == "]]":
                return start + 2
        return -1

    def _is_process_substitution(self) -> bool:
        return self.text[self.index] in "<>" and self.text[self.index + 1 : self.index + 2] == "("

    def _redirection(self, descriptor: Token | None) -> bool:
        """Read a redirection, if here is one."""
        if self._is_process_substitution():
            return False
        for operator in _REDIRECTIONS:
            if self.text.startswith(operator, self.index, self.end):
                break
        else:
            return False
        start = descriptor.start if descriptor else self.index
        number = descriptor.source if descriptor else None
        self.index += len(operator)
        if operator in {"<<", "<<-"}:
            self._document(start, operator, number)
            return True
        self._skip_blanks()
        target = self._target(operator) if self._starts_word() else None
        if target is None:
            self._doubt("it has a redirection without a target")
        self.tokens.append(Redirection(start, self.index, operator, number, target))
        return True

    def _target(self, operator: str) -> Token:
        """Read the word behind a redirection. A dash behind `>&` or `<&` is one by itself, whatever follows it."""
        if operator not in _DUPLICATES or self.text[self.index] != "-":
            return self._read_word()
        start = self.index
        self.index += 1
        if self.index < self.end and self.text[self.index] not in _ENDS:
            self._doubt("what follows a dash behind a redirection is a word of the command")
        return Token(start, self.index, (Plain("-"),), "-")

    def _skip_blanks(self) -> None:
        while self.index < self.end:
            if self.text[self.index] in _BLANKS:
                self.index += 1
            elif self.text.startswith("\\\n", self.index, self.end):
                self._continuation()
            else:
                return

    def _starts_word(self) -> bool:
        return self.index < self.end and (
            self.text[self.index] not in _ENDS or self._is_process_substitution()
        )

    def _document(self, start: int, operator: str, number: str | None) -> None:
        """A here-document: its delimiter now, its body when the line ends."""
        self._skip_blanks()
        word = self._read_word() if self._starts_word() else None
        if word is None or not all(isinstance(piece, Plain | Quoted) for piece in word.pieces):
            self._doubt("a here-document's end is not a plain word")
            return
        delimiter = "".join(piece.text for piece in word.pieces if isinstance(piece, Plain | Quoted))
        is_quoted = any(isinstance(piece, Quoted) for piece in word.pieces)
        wholly = len(word.pieces) == 1 and word.source == (
            f"{word.source[0]}{delimiter}{word.source[0]}" if is_quoted else delimiter
        )
        if (
            not wholly
            or not delimiter
            or not all(mark.isalnum() or mark in "_-.+!%@:," for mark in delimiter)
        ):
            self._doubt("a here-document's end is neither a plain word nor wholly quoted")
        rest = self.text[self.index : self.end].split("\n", 1)[0]
        if rest.strip(" \t") and not (is_quoted and _TO_A_DOCUMENT.fullmatch(rest)):
            self._doubt("there is more after a here-document's start on its line")
        self._awaited.append((len(self.tokens), delimiter, is_quoted, operator == "<<-"))
        self.tokens.append(Redirection(start, self.index, operator, number, None, ()))

    def _documents(self) -> None:
        """The bodies that were awaited, now that their line has ended."""
        for place, delimiter, is_quoted, strips in self._awaited:
            token = self.tokens[place]
            assert isinstance(token, Redirection)
            start = self.index
            stop = self._document_end(delimiter, is_quoted=is_quoted, strips=strips)
            body: list[Piece] = [Quoted(self.text[start:stop])]
            if not is_quoted:
                body = self._pieces.document(start, stop)
            self.tokens[place] = Redirection(
                token.start, token.end, token.operator, token.descriptor, None, tuple(body)
            )
        self._awaited.clear()

    def _document_end(self, delimiter: str, *, is_quoted: bool, strips: bool) -> int:
        """Return where a body ends; afterwards `index` is behind its delimiter."""
        while self.index < self.end:
            start = self.index
            line = self._line()
            while not is_quoted and _is_continued(line) and self.index < self.end:
                line = line[:-1] + self._line()
            if (line.lstrip("\t") if strips else line) == delimiter:
                if self.index < self.end or self.text[self.index - 1 : self.index] == "\n":
                    self.index -= 1  # the end of the delimiter's line is a token
                return start
        self._doubt("a here-document is not ended")
        return self.end

    def _line(self) -> str:
        close = self.text.find("\n", self.index, self.end)
        start, self.index = self.index, self.end if close < 0 else close + 1
        return self.text[start : self.end if close < 0 else close]

    def _word(self) -> None:
        word = self._read_word()
        if (
            self.index < self.end
            and self.text[self.index] in "<>"
            and _is_descriptor(word)
            and self._redirection(word)
        ):
            return
        self.tokens.append(word)

    def _read_word(self) -> Token:
        start = self.index
        pieces: list[Piece] = []
        while self.index < self.end:
            if self.text[self.index] in _ENDS:
                if not (pieces or self._is_process_substitution()):
                    break
                if self._is_process_substitution() and not _could_be_descriptor(pieces):
                    found, self.index = self._pieces.substitution(self.index, self.end, is_quoted=False)
                elif self.text[self.index] == "(" and _is_array(pieces):
                    found = [self._elements()]
                else:
                    break
            else:
                found, self.index = self._pieces.until(self.index, self.end, _ENDS)
            pieces += found
        self.index = max(self.index, start + 1)
        if _has_open_subscript(pieces, self.text[start : self.index]):
            self._doubt(
                "it has a subscript with a blank in it"
            )  # bash joins it with the following text to one word
        if _has_document_in_subscript(pieces, self.text[start : self.index]):
            self._doubt("it has a here-document in a subscript, where a quote in its text quotes")
        return Token(start, self.index, tuple(pieces), self.text[start : self.index])

    def _elements(self) -> Elements:
        """The words in the parentheses of an array."""
        start = self.index
        self.index += 1
        words: list[Token] = []
        while self.index < self.end and self.text[self.index] != ")":
            character = self.text[self.index]
            if character in _NEAR_CONTINUATION:
                self.index += 1
            elif character == "#":
                self._comment()
            elif self._starts_word():
                words.append(self._read_word())
            else:
                self._doubt("it has an array that could not be read")
                self.index += 1
        if self.index >= self.end:
            self._doubt("it has an array that does not end")
        self.index += 1
        return Elements(tuple(words), self.text[start : self.index])


def _is_continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _is_descriptor(word: Token) -> bool:
    text = word.plain
    if text is None:
        return False
    is_named = text[:1] == "{" and text[-1:] == "}" and is_name(text[1:-1])
    return is_named or (text.isascii() and text.isdigit())


def _could_be_descriptor(pieces: list[Piece]) -> bool:
    return len(pieces) == 1 and isinstance(pieces[0], Plain) and pieces[0].text.isdigit()


def _is_array(pieces: list[Piece]) -> bool:
    first = pieces[0]
    return (
        isinstance(first, Plain)
        and first.text[:1] in NAME_STARTS
        and pieces[-1:] != []
        and _ends_in_equals(pieces)
    )


def _has_open_subscript(pieces: list[Piece], source: str) -> bool:
    first = pieces[0] if pieces else None
    if not isinstance(first, Plain) or "[" not in first.text or "]" in source:
        return False
    name = first.text.partition("[")[0]
    return (name == "" and source not in {"[", "[["}) or is_name(name)


def _has_document_in_subscript(pieces: list[Piece], source: str) -> bool:
    first = pieces[0] if pieces else None
    if not isinstance(first, Plain) or "<<" not in source or "\n" not in source:
        return False
    name, bracket, _ = first.text.partition("[")
    return bool(bracket) and (name == "" or is_name(name))


def _ends_in_equals(pieces: list[Piece]) -> bool:
    last = pieces[-1]
    return isinstance(last, Plain) and last.text.endswith("=")
