"""The escapes of `$'…'`."""

from collections.abc import Iterator

_LETTERS = {"a": 7, "b": 8, "e": 27, "E": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_LETTERS |= {mark: ord(mark) for mark in "\\'\"?"}
_OCTAL = frozenset("01234567")
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")


def decoded(text: str) -> str:
    """Return what the inside of `$'…'` stands for. Text and result are bytes, each as one character.

    As in bash, an escape that makes a NUL ends the string.
    """
    result = ""
    for character in _characters(text):
        if "\0" in character:
            break
        result += character
    return result


def _characters(text: str) -> Iterator[str]:
    index = 0
    while index < len(text):
        if text[index] != "\\" or index + 1 == len(text):
            yield text[index]
            index += 1
        else:
            character, index = _escape(text, index + 1)
            yield character


def _escape(text: str, index: int) -> tuple[str, int]:
    """Return the value of the escape whose letter is at `index`, and its end."""
    letter = text[index]
    if letter in _LETTERS:
        return chr(_LETTERS[letter]), index + 1
    if letter in _OCTAL:
        digits = _digits(text, index, 3, _OCTAL)
        return chr(int(digits, 8) & 0xFF), index + len(digits)
    if letter == "c" and index + 1 < len(text):
        return _control(text, index + 1)
    if letter in "xuU":
        digits = _digits(text, index + 1, {"x": 2, "u": 4, "U": 8}[letter], _HEXADECIMAL)
        if digits:
            return _numbered(letter, int(digits, 16)), index + 1 + len(digits)
    return "\\" + letter, index + 1


def _control(text: str, index: int) -> tuple[str, int]:
    end = index + 1
    if text[index : index + 2] == "\\\\":  # the one character that has to be escaped there
        end += 1
    code = 0x7F if text[index] == "?" else ord(text[index].upper()) & 0x1F
    return chr(code), end


def _digits(text: str, start: int, most: int, alphabet: frozenset[str]) -> str:
    end = start
    while end < min(start + most, len(text)) and text[end] in alphabet:
        end += 1
    return text[start:end]


def _numbered(letter: str, number: int) -> str:
    if letter == "x":
        return chr(number & 0xFF)
    return chr(number).encode("utf-8", "replace").decode("latin-1") if number <= 0x10FFFF else "?"
