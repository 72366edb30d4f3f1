"""The size of replies in tokens, in any writing.

The hub has no model's vocabulary, so it estimates. Random text, in any writing, takes hardly more than the estimate in
the public vocabularies; words take less.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from math import ceil

from hubbub.model.fleet.calls import as_json

_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]{1,3}|[^ ]")
_SHORTER = re.compile(
    "[\u00c0-\u00ff\u0400-\u045f\u3040-\u30ff\u4e00-\u9fff]"
)  # seldom a token for each byte
_SHORTER_BY = 0.6
_USUAL, _UNUSUAL = 0.12, 0.6  # cost of a frequent and of a rare pair of letters
_SIGN = 0.75
_PAIRS = frozenset(
    """ac ad ag ai ak al am an ar as at ay be bo bu by ca ce ch cl co ct de di ds ea ec ed ee ef el em en ep er es et ev
    fi fo fr ge ha he hi ho hu ic id ie if il im in io is it ke la ld le li ll lo ls ma me mo mp na nc nd ne ng no ns nt
    od of ok ol om on oo op or ot ou ow pa pe pl po pr ra rd re ri ro rs rt ru sa se si sk so ss st ta te th ti to tr ts
    tu ub un ur us ut ve wa wh wi""".split()  # noqa: SIM905  # so many read better without quotes
)


def cost(text: str) -> int:
    """Return the most tokens that the text takes in a reply."""
    return ceil(sum(map(_cost_of_piece, _PIECE.findall(as_json(text)[1:-1]))))


def _cost_of_piece(piece: str) -> float:
    if not piece.isascii():
        return len(piece.encode()) - (_SHORTER_BY if _SHORTER.match(piece) else 0)
    if not piece.isalpha():
        return 1 if piece.isdigit() else _SIGN
    word = piece if piece.isupper() else piece.lower()  # in capitals no pair is usual
    return 1 + sum(_USUAL if word[at : at + 2] in _PAIRS else _UNUSUAL for at in range(len(word) - 1))


def cut(text: str, most: int) -> str:
    """Return `text`, or as much of its beginning as costs no more than `most`, with a mark that there was more."""
    if cost(text) <= most:
        return text
    length = bisect_right(range(1, len(text) + 1), most, key=lambda length: cost(text[:length]))
    return f"{text[:length].rstrip()}…"


def fit_lists(lists: Mapping[str, Sequence[str]], room: int) -> dict[str, list[str]]:
    """Return the first lines of each list, taken in turns while there is room: no list takes it from the others."""
    shown: dict[str, list[str]] = {name: [] for name in lists}
    growing = dict(lists)
    for place in range(max(map(len, lists.values()), default=0)):
        for name, lines in list(growing.items()):
            if place == len(lines) or (price := cost(lines[place])) > room:
                del growing[name]
                continue
            room -= price
            shown[name].append(lines[place])
    return shown
