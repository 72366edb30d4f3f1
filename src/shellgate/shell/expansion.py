"""Expansion of a word's pieces to its resulting words: braces, tilde, variables, splitting, patterns."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from shellgate.shell.brace_expansion import UnreadError, expanded
from shellgate.shell.known_state import ShellState, Value
from shellgate.shell.parameters import MANY, value
from shellgate.shell.program import Glob, Text, Unknown, Word, WordPart
from shellgate.shell.syntax.quoting import NAME_CHARACTERS, is_name
from shellgate.shell.syntax.shell_tokens import (
    Arithmetic,
    Backquoted,
    Elements,
    Parameter,
    Piece,
    Plain,
    Quoted,
    Substitution,
    Token,
    decode,
)
from shellgate.world import World

_SEPARATORS = " \t\n"
_LONGEST = 64 * 1024  # characters of one word: variables that are put together double and double again
_MOST = 20_000  # words that braces and blanks in variables make, in one text
_USERS = 50  # whose homes are looked up


@dataclass(slots=True)
class Expander:
    """Expands words; a failure is a doubt."""

    world: World
    doubts: list[str] = field(default_factory=list)
    split_pattern: bool = (
        False  # whether an unquoted variable held a pattern: its matches may have blanks in them
    )
    _made: int = 0  # words
    _homes: dict[str, str | None] = field(default_factory=dict)  # by user

    def words(self, token: Token, state: ShellState) -> list[Word]:
        """Return the words that an argument becomes: none, one or several."""
        try:
            alternatives = expanded(token.pieces)
        except UnreadError as error:
            self.doubts.append(str(error))
            return [Word((Unknown(decode(token.source), may_be_many=True),), decode(token.source))]
        if len(alternatives) > 1 and any(map(_has_longer_name, alternatives)):
            return [Word((Unknown(decode(token.source), may_be_many=True),), decode(token.source))]
        found: list[Word] = []
        assigns = alternatives == [token.pieces] and _has_form_of_assignment(token.pieces)
        for pieces in alternatives:
            found += self._split(pieces, token, state, assigns=assigns)
            if self._made + len(found) > _MOST:
                self.doubts.append("its variables and braces make too many words")
                return [Word((Unknown(decode(token.source), may_be_many=True),), decode(token.source))]
        self._made += len(found) if len(found) > 1 else 0
        return found

    def one(self, token: Token, state: ShellState, *, from_index: int = 0, assigns: bool = False) -> Word:
        """Return a word that stays one: of an assignment, a redirection, a `case`."""
        pieces = _behind(token.pieces, from_index)
        parts: list[WordPart] = []
        for number, piece in enumerate(pieces):
            if isinstance(piece, Plain):
                is_last = number + 1 == len(pieces)
                parts += self._plain(
                    decode(piece.text), state, at_start=number == 0, assigns=assigns, is_last=is_last
                )
            else:
                parts += self._single(piece, state)
        return Word(_merged(parts), decode(token.source[from_index:]), _is_quoted(pieces))

    def body(self, pieces: tuple[Piece, ...], state: ShellState) -> Word:
        """Return the text of a here-document."""
        parts = [part for piece in pieces for part in self._single(piece, state)]
        return Word(_merged(parts), "", is_quoted=True)

    def _single(self, piece: Piece, state: ShellState) -> list[WordPart]:
        """Return what a piece becomes where nothing is split."""
        match piece:
            case Plain(text) | Quoted(text):
                return [Text(decode(text))]
            case Parameter():
                held = value(piece, state)
                return list(held) if held is not None else [_unknown(piece)]
            case Elements(_, source):
                return [Unknown(decode(source), may_be_many=True)]
            case Arithmetic(text):
                number = _constant(text)
                return [Text(number)] if number is not None else [Unknown(decode(piece.source))]
            case Substitution() | Backquoted():
                return [Unknown(decode(piece.source))]

    def _split(
        self, pieces: tuple[Piece, ...], token: Token, state: ShellState, *, assigns: bool
    ) -> list[Word]:
        source = decode(token.source)
        is_quoted = _is_quoted(pieces)
        if _has_torn_brackets(pieces) or any(seen(token.pieces) for seen in _IN_BASH_ALONE):
            return [Word((Unknown(source, may_be_many=True),), source, is_quoted)]
        words: list[list[WordPart]] = [[]]
        kept: set[int] = set()  # the words with a quote in them: they are there even if they are empty
        for number, piece in enumerate(pieces):
            if isinstance(piece, Plain):
                text, is_last = decode(piece.text), number + 1 == len(pieces)
                if assigns and number == 0:
                    name, equals, text = text.partition("=")
                    words[-1].append(Text(name + equals))
                words[-1] += self._plain(text, state, at_start=number == 0, assigns=assigns, is_last=is_last)
            elif isinstance(piece, Parameter) and not piece.is_quoted:
                fields = self._fields(piece, state)
                words[-1] += fields[0]
                words += fields[1:]
                if len(words) > _MOST:
                    break  # too many in any case: see `words`
            else:
                words[-1] += self._unsplit(piece, state)
            if _quotes(piece):
                kept.add(len(words) - 1)
        return [
            Word(_merged(parts), source, number in kept)
            for number, parts in enumerate(words)
            if parts or number in kept
        ]

    def _unsplit(self, piece: Piece, state: ShellState) -> list[WordPart]:
        parts = self._single(piece, state)
        if isinstance(piece, Substitution | Backquoted | Arithmetic) and not piece.is_quoted:
            is_path = isinstance(piece, Substitution) and piece.opener != "$("
            return [
                Unknown(part.source, may_be_many=not is_path) if isinstance(part, Unknown) else part
                for part in parts
            ]
        return parts

    def _fields(self, parameter: Parameter, state: ShellState) -> list[list[WordPart]]:
        """Return what an unquoted variable becomes: split where it has blanks."""
        held = value(parameter, state)
        if held is None or not state.splits_plainly:
            return [[Unknown(decode(parameter.source), may_be_many=True)]]
        fields: list[list[WordPart]] = [[]]
        for part in held:
            if isinstance(part, Glob):
                self.split_pattern = True
                fields[-1].append(part)
                continue
            for number, text in enumerate(_cut(part.text)):
                if number:
                    fields.append([])
                if text:
                    fields[-1] += _patterns(text, escapes=True)
        return fields

    def _plain(
        self, text: str, state: ShellState, *, at_start: bool, is_last: bool, assigns: bool
    ) -> list[WordPart]:
        """Unquoted text: a tilde at its start is a home, after `:` too in an assignment."""
        if "~" not in text:
            return _patterns(text)
        pieces = text.split(":") if assigns else [text]
        parts: list[WordPart] = []
        for number, piece in enumerate(pieces):
            if number:
                parts.append(Text(":"))
            if piece.startswith("~") and (number or at_start):
                parts += self._tilde(piece, state, is_whole=is_last or number + 1 < len(pieces))
            else:
                parts += _patterns(piece)
        return parts

    def _tilde(self, text: str, state: ShellState, *, is_whole: bool) -> list[WordPart]:
        prefix, slash, rest = text.partition("/")
        if not slash and not is_whole:
            return _patterns(text)
        home = self._home(prefix[1:], state)
        if home is None:
            return [Unknown(prefix), *_patterns(slash + rest)]
        return [*home, *_patterns(slash + rest)]

    def _home(self, user: str, state: ShellState) -> Value:
        if user in {"", "+", "-"}:
            return state.value({"": "HOME", "+": "PWD", "-": "OLDPWD"}[user])
        if user not in self._homes and len(self._homes) >= _USERS:
            self.doubts.append("it names the homes of too many users")
            return None
        found = self._homes[user] = self._homes.get(user) or self.world.lookup(user)
        return (Text(found),) if found is not None else None


def _behind(pieces: tuple[Piece, ...], count: int) -> tuple[Piece, ...]:
    """Return the pieces without that many characters of the first, which is plain."""
    if not count:
        return pieces
    first = pieces[0]
    assert isinstance(first, Plain)
    return ((Plain(first.text[count:]),) if first.text[count:] else ()) + pieces[1:]


def _may_stay_whole(pieces: tuple[Piece, ...]) -> bool:
    """Tell whether bash may not split a variable: an unset `$!` or a lone `$` behind it keeps its blanks."""
    return (
        len(pieces) > 1
        and any(map(_keeps_blanks, pieces))
        and not all(isinstance(each, Plain) for each in pieces)
    )


def _keeps_blanks(piece: Piece) -> bool:
    if isinstance(piece, Parameter):
        return piece.name == "!" and not piece.is_quoted
    return piece == Plain("$")


def _has_home_in_a_list(pieces: tuple[Piece, ...]) -> bool:
    """Tell whether `:` or `=` follows a tilde, and then what bash expands no more."""
    first = pieces[0] if pieces else None
    user = first.text.partition("/")[0] if isinstance(first, Plain) else ""
    return user.startswith("~") and (":" in user or "=" in user) and len(pieces) > 1


def _has_form_of_assignment(pieces: tuple[Piece, ...]) -> bool:
    """Tell whether an argument has tildes as an assignment has: one that braces made does not count as such."""
    first = pieces[0] if pieces else None
    name, equals, _ = first.text.partition("=") if isinstance(first, Plain) else ("", "", "")
    return bool(equals) and is_name(name.removesuffix("+"))


def _is_element(pieces: tuple[Piece, ...]) -> bool:
    """Tell whether an argument may have the form of an assignment to an element, whose end bash alone finds."""
    first = pieces[0] if pieces else None
    name, bracket, _ = first.text.partition("[") if isinstance(first, Plain) else ("", "", "")
    return (
        bool(bracket)
        and is_name(name)
        and any(isinstance(each, Plain) and "~" in each.text for each in pieces)
    )


_IN_BASH_ALONE = (_may_stay_whole, _is_element, _has_home_in_a_list)  # words that are unknown to us


def _is_quoted(pieces: Iterable[Piece]) -> bool:
    return any(map(_quotes, pieces))


def _quotes(piece: Piece) -> bool:
    """Tell whether a word with this in it remains even if it is empty."""
    if isinstance(piece, Plain):
        return False
    return isinstance(piece, Quoted) or (
        isinstance(piece, Parameter | Substitution | Backquoted | Arithmetic) and _stays(piece)
    )


def _stays(piece: Parameter | Substitution | Backquoted | Arithmetic) -> bool:
    """Tell whether a word remains even if this is empty: `"$@"` is none without arguments."""
    is_many = isinstance(piece, Parameter) and (piece.name in MANY or "[]" in piece.operator)
    return piece.is_quoted and not is_many


def _unknown(parameter: Parameter) -> Unknown:
    is_list = parameter.name in MANY or "[]" in parameter.operator or parameter.prefix == "!"
    return Unknown(decode(parameter.source), may_be_many=is_list)


def _cut(text: str) -> list[str]:
    """A text at its blanks, with an empty text where it begins or ends with one."""
    pieces = text.split()
    if not pieces:
        return [""] if not text else ["", ""]
    return ([""] if text[0] in _SEPARATORS else []) + pieces + ([""] if text[-1] in _SEPARATORS else [])


def _patterns(text: str, *, escapes: bool = False) -> list[WordPart]:
    """Unquoted text, with its patterns apart."""
    parts: list[WordPart] = []
    start = index = 0
    while index < len(text):
        stop = _pattern_end(text, index, escapes=escapes)
        if stop:
            if index > start:
                parts.append(Text(text[start:index]))
            parts.append(Glob(text[index:stop]))
            start = index = stop
        else:
            index += 1
    if index > start:
        parts.append(Text(text[start:index]))
    return parts


def _pattern_end(text: str, index: int, *, escapes: bool) -> int:
    """Return where the pattern at `index` ends; 0 if there is none. A backslash in a variable's value may hide one."""
    character = text[index]
    if character in "*?" or (character == "\\" and escapes):
        return index + 1
    if character == "[":
        close = text.find("]", index + 2)
        return close + 1 if close > 0 else 0
    return 0


def _has_longer_name(pieces: tuple[Piece, ...]) -> bool:
    """Tell whether braces put letters behind a dollar sign, into the name: `$a{b,c}` is `$ab $ac`."""
    return any(isinstance(piece, Plain) and "$" in piece.text for piece in pieces) or any(
        isinstance(piece, Parameter)
        and not piece.is_quoted
        and piece.source == "$" + piece.name
        and isinstance(following, Plain)
        and following.text[:1] in NAME_CHARACTERS
        for piece, following in pairwise(pieces)
    )


def _has_torn_brackets(pieces: tuple[Piece, ...]) -> bool:
    """Tell whether a pattern's bracket opens in one piece and closes in another, with quotes or a variable between."""
    is_open = False
    for piece in pieces:
        if isinstance(piece, Plain):
            if is_open and "]" in piece.text:
                return True
            is_open = is_open or piece.text.rfind("[") > piece.text.rfind("]")
    return False


def _merged(parts: list[WordPart]) -> tuple[WordPart, ...]:
    if sum(len(part.text) for part in parts if not isinstance(part, Unknown)) > _LONGEST:
        return (Unknown("a text that is too long", may_be_many=True),)
    merged: list[WordPart] = []
    texts: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            texts.append(part.text)
            continue
        if text := "".join(texts):
            merged.append(Text(text))
        texts.clear()
        merged.append(part)
    if text := "".join(texts):
        merged.append(Text(text))
    return tuple(merged)


def _constant(text: str) -> str | None:
    text = text.strip()
    is_number = text.isascii() and text.isdigit() and (text == "0" or not text.startswith("0"))
    return text if is_number else None
