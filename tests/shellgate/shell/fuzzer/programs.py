"""Writes shell programs around a harmless marker, by two grammars: what people write, and what they never would.

In a grammar `«x»` stands for any of the lines of `x`, `«n»` for a number, `«»` for nothing, `⏎` and `⇥` for the
end of a line and a tab.
"""

import random
from pathlib import Path

MARKER = "m"
_DEPTH = 7
_HERE = Path(__file__).parent

Grammar = dict[str, list[str]]


def _grammar(*files: str) -> Grammar:
    grammar: Grammar = {}
    for file in files:
        name = ""
        for line in (_HERE / file).read_text().replace("⇥", "\t").splitlines():
            if line.startswith("  "):
                grammar.setdefault(name, []).append(line[2:].replace("⏎", "\n"))
            else:
                name = line.rstrip(":")
    return grammar


USUAL = _grammar("usual.txt")
ODD = _grammar("usual.txt", "odd.txt")


class Writer:
    """The programs of one seed: a quarter are odd, and a quarter have something changed in them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = 0

    def program(self) -> str:
        """The next program."""
        grammar = ODD if self._random.random() < 0.25 else USUAL
        count = self._random.choice((1, 1, 2, 3))
        text = "".join(self._written("statement", grammar, 0) for _ in range(count))
        return self._changed(text) if self._random.random() < 0.25 else text

    def _written(self, name: str, grammar: Grammar, depth: int) -> str:
        if name in {"", "n"}:
            self._count += 1
            return str(self._count) if name else ""
        alternatives = grammar[name]
        if depth > _DEPTH:
            alternatives = [
                text for text in alternatives if "«" not in text.replace("«n»", "")
            ] or alternatives[:1]
        text, _, rest = self._random.choice(alternatives).partition("«")
        while rest:
            part, _, rest = rest.partition("»")
            text += self._written(part, grammar, depth + 1)
            more, _, rest = rest.partition("«")
            text += more
        return text

    def _changed(self, text: str) -> str:
        """A program with one to three of its tokens gone, doubled, changed, or in each other's place."""
        for _ in range(self._random.randint(1, 3)):
            tokens = _tokens(text)
            place, other = self._random.randrange(len(tokens)), self._random.randrange(len(tokens))
            scrap = self._random.choice(ODD["scrap"])
            match self._random.randrange(5):
                case 0 if len(tokens) > 1:
                    del tokens[place]
                case 1:
                    tokens.insert(place, tokens[place])
                case 2:
                    tokens.insert(place, scrap)
                case 3:
                    tokens[place], tokens[other] = tokens[other], tokens[place]
                case _:
                    tokens[place] = scrap
            text = "".join(tokens)
        return text


def _tokens(text: str) -> list[str]:
    """The text in pieces that are worth moving: runs of letters, and everything else one by one."""
    pieces: list[str] = []
    for character in text:
        if pieces and character.isalnum() and pieces[-1][-1].isalnum():
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces
