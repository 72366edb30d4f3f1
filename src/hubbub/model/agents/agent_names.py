"""Names that a person may choose for an agent.

Agents of the documented tool sets name themselves, by the rules of these. A person who makes an agent chooses a name
that every shell, address and file takes as it is.

Emoji and some scripts need *joiners*, characters that nobody sees but that shape those beside them. They may be in a
name where writing needs them, and nowhere else; two names that differ in them alone look alike.
"""

import re
import unicodedata

from hubbub.model.visible_text import is_seen

LONGEST = 64
HARMLESS = re.compile(r"\w[\w.@+-]*")

NON_JOINER, JOINER, EMOJI_STYLE = JOINERS = ("\u200c", "\u200d", "\ufe0f")
KEYCAP, KEYS = "\u20e3", frozenset("0123456789#*")
SKIN_TONES = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
VIRAMA = 9  # the combining class of the marks that bind two letters in scripts of India and around it


def is_choosable(name: str) -> bool:
    """Tell whether a person may give an agent this name."""
    return len(name) <= LONGEST and HARMLESS.fullmatch(name) is not None


def first_hidden(name: str) -> str | None:
    """Return the first character of a name that nobody sees and that no writing needs there; None if there is none."""
    return next(
        (each for place, each in enumerate(name) if not is_seen(each) and not _is_needed(name, place)), None
    )


def _is_needed(name: str, place: int) -> bool:
    """Tell whether the character there is a joiner that shapes the characters beside it."""
    joiner, before, after = name[place], name[place - 1 : place], name[place + 1 : place + 2]
    if joiner not in JOINERS or not before:
        return False
    if joiner == EMOJI_STYLE:
        return _is_picture(before) or (before in KEYS and after == KEYCAP)
    if not after:
        return False
    if unicodedata.combining(before) == VIRAMA:
        return after.isalpha()
    if joiner == NON_JOINER:  # between the parts of a word in Persian and its neighbours
        return unicodedata.bidirectional(before) in ("AL", "NSM") and unicodedata.bidirectional(after) == "AL"
    return (_is_picture(before) or before in SKIN_TONES or before == EMOJI_STYLE) and _is_picture(after)


def _is_picture(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sm")
