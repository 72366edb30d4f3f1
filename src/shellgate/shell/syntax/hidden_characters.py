"""Characters that a person who reads a command does not see, or sees elsewhere than they stand (F9)."""

import unicodedata

_SEEN = "\t\n"
_INVISIBLE = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
)  # letters and marks without a shape
_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})


def is_hidden(character: str) -> bool:
    """Tell whether it is a control, invisible or bidirectional character, a lone surrogate, or an odd space."""
    if character.isascii():
        return not character.isprintable() and character not in _SEEN
    category = unicodedata.category(character)
    return category in _CATEGORIES or category == "Zs" or character in _INVISIBLE


def first_hidden(text: str) -> str | None:
    """The first such character of a text, named so that it can be shown; None if it has none."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return None
    for character in text:
        if is_hidden(character):
            return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
    return None
