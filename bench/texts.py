"""Texts of tasks that differ, as those of real senders do."""

from collections.abc import Iterator
from functools import partial
from itertools import accumulate, count
from random import Random

WORDS, SMALL = 5_000, 20  # the commonest words of a language are small ones, which say nothing of a job
VERBS = ("fix", "add", "remove", "test", "document", "review", "update", "translate", "check", "write")

Texts = Iterator[str]


def different(seed: int) -> Texts:
    """Yield new sentences: a verb, words by Zipf's law, and sometimes a number."""
    random = Random(seed)
    letters = "bcdfglmnprst", "aeiou"
    words = [
        "".join(random.choice(letters[at % 2]) for at in range(random.randint(4, 9))) for _ in range(WORDS)
    ]
    weights = [*accumulate(1 / (rank + SMALL) for rank in range(WORDS))]
    draw = partial(random.choices, words, cum_weights=weights)
    for number in count(1):
        title = f"{random.choice(VERBS)} the {' '.join(draw(k=random.randint(4, 8)))}"
        part = f" of part {number}" if random.random() < 0.2 else ""
        yield f"{title}{part}\n" + " ".join(f"It has to {' '.join(draw(k=12))}." for _ in range(3))


def same() -> Texts:
    while True:
        yield "Fix the login timeout on Safari\nIt happens after a while."
