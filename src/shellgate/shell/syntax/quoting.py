"""The pieces of a word: quotes, escapes, expansions and substitutions, split like bash's own lexer."""

from collections.abc import Callable

from shellgate.shell.syntax.escapes import decoded
from shellgate.shell.syntax.shell_tokens import (
    Arithmetic,
    Backquoted,
    Parameter,
    Piece,
    Plain,
    Quoted,
    Region,
    Substitution,
)
from shellgate.shell.syntax.tree import DEPTH_LIMIT, Tree

NAME_STARTS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
NAME_CHARACTERS = NAME_STARTS | frozenset("0123456789")
_SPECIAL = frozenset("@*#?-$!0123456789")
_LIVE = frozenset("\\'\"$`")
_KEPT_IN_DOUBLE = frozenset('$`"\\')
_NO_PATTERN = (":-", ":=", ":+", ":?", "-", "=", "+", "?")  # operators whose argument is a text


def is_name(text: str) -> bool:
    """Tell whether the text can be a variable's name."""
    return text[:1] in NAME_STARTS and text[:1] != "" and all(mark in NAME_CHARACTERS for mark in text)


class TooDeepError(Exception):
    """Expansions are nested deeper than anyone would read."""


class Pieces:
    """Takes apart what words are made of.

    `code` reads a substitution's inside. What bash may see otherwise is added to `doubts`, and read as well as can be.
    """

    def __init__(self, text: str, tree: Tree, code: Callable[[int, int], Region], doubts: list[str]) -> None:
        self.text = text
        self.doubts = doubts
        self._tree = tree
        self._code = code
        self._depth = self._braces = self._documents = 0
        self._read: dict[tuple[int, int, bool], tuple[list[Piece], int]] = {}

    def until(self, index: int, end: int, stops: frozenset[str]) -> tuple[list[Piece], int]:
        """The pieces from `index` to the first unquoted stop, and where that is."""
        pieces: list[Piece] = []
        text = self.text
        while index < end and text[index] not in stops:
            if text[index] in _LIVE:
                piece, index = self._live(index, end)
                pieces += piece
            else:
                start = index
                while index < end and text[index] not in stops and text[index] not in _LIVE:
                    index += 1
                pieces.append(Plain(text[start:index]))
        return pieces, index

    def _live(self, index: int, end: int) -> tuple[list[Piece], int]:
        match self.text[index]:
            case "\\":
                return self._escaped(index, end)
            case "'":
                return self._single(index, end)
            case '"':
                return self.double(index + 1, end)
            case "`":
                return self.backquoted(index, end, is_quoted=False)
            case _:
                return self.dollar(index, end, is_quoted=False)

    def _escaped(self, index: int, end: int) -> tuple[list[Piece], int]:
        if index + 1 >= end:
            self.doubts.append("it ends in a backslash")
            return [Quoted("\\")], end
        if self.text[index + 1] == "\n":
            self.doubts.append("a line is continued inside a word")
            return [], index + 2
        stop = index + 2
        while stop < end and "\x80" <= self.text[stop] < "\xc0" <= self.text[index + 1]:
            stop += 1  # the rest of one character, which is several bytes
        return [Quoted(self.text[index + 1 : stop])], stop

    def _single(self, index: int, end: int) -> tuple[list[Piece], int]:
        close = self.text.find("'", index + 1, end)
        if close < 0:
            self.doubts.append("a quote is not closed")
            close = end
        self.kept(self.text[index + 1 : close])
        return [Quoted(self.text[index + 1 : close])], close + 1

    def kept(self, text: str) -> None:
        """Doubt a text that keeps an escaped end of line: in a here-document bash joins lines before it reads."""
        if self._documents and "\\\n" in text:
            self.doubts.append("a line is continued in quotes or a comment in a here-document")

    def document(self, index: int, end: int) -> list[Piece]:
        """The body of a here-document whose end is not quoted."""
        self._documents += 1
        pieces, _ = self.double(index, end, close="")
        self._documents -= 1
        return pieces

    def double(self, index: int, end: int, close: str = '"') -> tuple[list[Piece], int]:
        """The inside of double quotes from `index`, and where they end; `close` is empty in a here-document."""
        pieces: list[Piece] = [Quoted("")]
        text, start = self.text, index
        while index < end and text[index] != close:
            character = text[index]
            if character not in _LIVE or character in "'\"":
                index += 1
                continue
            pieces.append(Quoted(text[start:index]))
            if character == "\\":
                piece, index = self._escaped_in_double(index, end, close)
            elif character == "`":
                piece, index = self.backquoted(index, end, is_quoted=True, in_document=not close)
            else:
                piece, index = self.dollar(index, end, is_quoted=True)
            pieces += piece
            start = index
        pieces.append(Quoted(text[start:index]))
        if close and index >= end:
            self.doubts.append("a quote is not closed")
        return [piece for piece in pieces if piece != Quoted("")] or [Quoted("")], index + 1

    def _escaped_in_double(self, index: int, end: int, close: str) -> tuple[list[Piece], int]:
        following = self.text[index + 1 : min(index + 2, end)]
        if following == "\n":
            if close or self.text[index - 1] in "$<>{(":
                self.doubts.append("a line is continued inside a word")
            return [], index + 2
        if following and following in _KEPT_IN_DOUBLE and (close or following != '"'):
            return [Quoted(following)], index + 2
        return [Quoted("\\" + following)], index + 1 + len(following)

    def backquoted(
        self, index: int, end: int, *, is_quoted: bool, in_document: bool = False
    ) -> tuple[list[Piece], int]:
        """A substitution in backquotes. Within quotes they lose the backslash of a quote, unless braces are between."""
        start, text, inside = index, self.text, ""
        index += 1
        while index < end and text[index] != "`":
            if text[index] == "\\" and index + 1 < end:
                escaped = text[index + 1]
                is_gone = escaped in "$`\\" or (escaped == '"' and is_quoted)
                inside += escaped if is_gone else "\\" + escaped
                if escaped == "\n":
                    self.doubts.append("a line is continued in backquotes")
                if escaped == '"' and is_quoted and (in_document or self._braces):
                    self.doubts.append(
                        "it has an escaped quote in backquotes, which bash reads as a character here"
                    )
                index += 2
            else:
                inside += text[index]
                index += 1
        if self._tree.substitutions.get(start) != index + 1:
            self.doubts.append("it has backquotes that are no substitution to one of two readers")
        return [Backquoted(inside, text[start : index + 1], is_quoted)], index + 1

    def dollar(self, index: int, end: int, *, is_quoted: bool) -> tuple[list[Piece], int]:
        """Return what a dollar sign starts. Each is read once, however often what is around it is looked at."""
        key = (index, end, is_quoted)
        if key not in self._read:
            self._depth += 1
            if self._depth > DEPTH_LIMIT:
                raise TooDeepError
            self._read[key] = self._dollar(index, end, is_quoted=is_quoted)
            self._depth -= 1
        return self._read[key]

    def _dollar(self, index: int, end: int, *, is_quoted: bool) -> tuple[list[Piece], int]:
        following = self.text[index + 1 : min(index + 3, end)]
        first = following[:1]
        if first == "(":
            if following == "((":
                arithmetic = self._arithmetic(index, end, is_quoted=is_quoted)
                if arithmetic is not None:
                    return arithmetic
            return self.substitution(index, end, is_quoted=is_quoted)
        if first == "{":
            self._braces += 1
            braced = self._braced(index, end, is_quoted=is_quoted)
            self._braces -= 1
            return braced
        if first == "[":
            return self._old_arithmetic(index, end, is_quoted=is_quoted)
        if first in {"'", '"'} and not is_quoted:
            return self._dollar_quoted(index, end)
        return self._named(index, end, is_quoted=is_quoted)

    def _named(self, index: int, end: int, *, is_quoted: bool) -> tuple[list[Piece], int]:
        text, stop = self.text, index + 1
        if stop < end and text[stop] in NAME_STARTS:
            while stop < end and text[stop] in NAME_CHARACTERS:
                stop += 1
        elif stop < end and text[stop] in _SPECIAL:
            stop += 1
        else:
            if text[stop : stop + 2] == "\\\n":
                self.doubts.append("a line is continued inside a word")
            return [Quoted("$") if is_quoted else Plain("$")], stop
        if is_quoted and text[index + 1 : stop] == "$" and text[stop : stop + 1] in {"{", "("}:
            self.doubts.append(
                "it has `$$` before a bracket in quotes, which bash takes for an expansion at first"
            )
        return [Parameter(text[index + 1 : stop], text[index:stop], is_quoted)], stop

    def _dollar_quoted(self, index: int, end: int) -> tuple[list[Piece], int]:
        if self.text[index + 1] == '"':
            pieces, stop = self.double(index + 2, end)
            return pieces, stop
        stop = index + 2
        while stop < end and self.text[stop] != "'":
            stop += 2 if self.text[stop] == "\\" else 1
        if stop >= end:
            self.doubts.append("a quote is not closed")
        self.kept(self.text[index + 2 : stop])
        return [Quoted(decoded(self.text[index + 2 : min(stop, end)]))], stop + 1

    def substitution(self, index: int, end: int, *, is_quoted: bool) -> tuple[list[Piece], int]:
        """A substitution that starts at `index`; where it ends is tree-sitter's to say."""
        stop = self._tree.substitutions.get(index)
        if stop is None or stop > end or self.text[stop - 1] != ")":
            self.doubts.append("it has a substitution that is none to one of two readers")
            stop = end + 1
        region = self._code(index + 2, stop - 1)
        source = self.text[index:stop]
        return [Substitution(self.text[index : index + 2], source, is_quoted, region)], stop

    def _arithmetic(self, index: int, end: int, *, is_quoted: bool) -> tuple[list[Piece], int] | None:
        """Read `$((…))`; None if its parentheses are those of a substitution."""
        close = self.balanced(index + 3, end)
        if close is None or self.text[close : close + 2] != "))":
            return None
        if self._tree.operators.get(index) != "$((":
            self.doubts.append("it has arithmetic that is none to one of two readers")
        inside = self.expression(index + 3, close)
        text = self.text[index + 3 : close]
        return [Arithmetic(text, self.text[index : close + 2], is_quoted, tuple(inside))], close + 2

    def _old_arithmetic(self, index: int, end: int, *, is_quoted: bool) -> tuple[list[Piece], int]:
        pieces, close = self.until(index + 2, end, frozenset("]"))
        self.doubts.append("it has arithmetic of the old form $[…]")
        return [
            Arithmetic(self.text[index + 2 : close], self.text[index : close + 1], is_quoted, tuple(pieces))
        ], (close + 1)

    def balanced(self, index: int, end: int) -> int | None:
        """Return where the parenthesis closes that is open before `index`; quotes and expansions are passed over."""
        depth = 0
        stops = frozenset("()")
        while True:
            _, index = self.until(index, end, stops)
            if index >= end:
                return None
            if self.text[index] == ")":
                if depth == 0:
                    return index
                depth -= 1
            else:
                depth += 1
            index += 1

    def expression(self, index: int, end: int) -> list[Piece]:
        """The pieces of arithmetic or of a condition, process substitutions too."""
        pieces: list[Piece] = []
        stops = frozenset("<>")
        while index < end:
            found, index = self.until(index, end, stops)
            pieces += found
            if index < end and self.text[index + 1 : index + 2] == "(" and index in self._tree.substitutions:
                found, index = self.substitution(index, end, is_quoted=False)
                pieces += found
            elif index < end:
                index += 1
        return pieces

    def _braced(self, index: int, end: int, *, is_quoted: bool) -> tuple[list[Piece], int]:
        """`${…}`."""
        text, start = self.text, index
        index += 2
        name_start = index
        if text[index : index + 1] in {"!", "#"} and text[index + 1 : index + 2] not in {"}", ""}:
            index += 1
        prefix = text[name_start:index]
        name_at = index
        if index < end and text[index] in NAME_STARTS:
            while index < end and text[index] in NAME_CHARACTERS:
                index += 1
        elif index < end and text[index] in _SPECIAL:
            index += 1
            while text[index - 1].isdigit() and index < end and text[index].isdigit():
                index += 1
        name = text[name_at:index]
        subscript: list[Piece] = []
        is_element = text[index : index + 1] == "["
        if is_element:
            subscript, index = self.until(index + 1, end, frozenset("]"))
            index += 1
        operator, index = self._operator(index, end)
        argument, index = self._argument(index, end, operator, is_quoted=is_quoted)
        if index >= end or not name:
            self.doubts.append("it has an expansion that could not be read")
        if is_element:
            operator = "[]" + operator
        inside = tuple(subscript + argument)
        piece = Parameter(name, text[start : index + 1], is_quoted, operator, tuple(argument), inside, prefix)
        return [piece], index + 1

    def _escaped_in_argument(self, escaped: str, operator: str) -> str:
        """Return what stands for a backslash and a character in `"${…}"`; before most, both do, but in no pattern."""
        if escaped in _KEPT_IN_DOUBLE | {"}", "\n"}:
            return escaped.replace("\n", "")
        if operator not in _NO_PATTERN:
            self.doubts.append("it has a backslash in a pattern within quotes")
        return "\\" + escaped

    def _operator(self, index: int, end: int) -> tuple[str, int]:
        for operator in (*_NO_PATTERN, "##", "%%", "#", "%"):
            if self.text.startswith(operator, index, end):
                return operator, index + len(operator)
        return ("" if self.text[index : index + 1] == "}" else "…"), index

    def _argument(self, index: int, end: int, operator: str, *, is_quoted: bool) -> tuple[list[Piece], int]:
        """Return what follows an operator, up to the closing brace."""
        if not is_quoted:
            found, stop = self.until(index, end, frozenset("}"))
            if any(start in self.text[index:stop] for start in ("<(", ">(")):
                self.doubts.append("it has a process substitution in an expansion")
            return found, stop
        return self._argument_in_double(index, end, operator)

    def _argument_in_double(self, index: int, end: int, operator: str) -> tuple[list[Piece], int]:
        pieces: list[Piece] = []
        text, start = self.text, index
        while index < end and text[index] != "}":
            character = text[index]
            if character not in _LIVE:
                index += 1
                continue
            pieces.append(Quoted(text[start:index]))
            if character == "'":
                # Within double quotes it quotes after some operators, and not after others.
                self.doubts.append("it has a quote in an expansion within quotes")
                index += 1
            elif character == "\\":
                pieces.append(Quoted(self._escaped_in_argument(text[index + 1 : index + 2], operator)))
                index += 2
            elif character == '"':
                found, stop = self.double(index + 1, end)
                if "\\" in text[index:stop]:
                    self.doubts.append("it has a backslash in quotes in an expansion within quotes")
                pieces += found
                index = stop
            elif character == "`":
                found, index = self.backquoted(index, end, is_quoted=True)
                pieces += found
            else:
                found, index = self.dollar(index, end, is_quoted=True)
                pieces += found
            start = index
        pieces.append(Quoted(text[start:index]))
        return [piece for piece in pieces if piece != Quoted("")], index
