"""Each dialect's promises and their tests, compared with each other."""

from collections import Counter
from pathlib import Path

import pytest

from tests.dialects.cmdop.requirements import CMDOP
from tests.dialects.commhub.requirements import COMMHUB
from tests.dialects.golemxv.requirements import GOLEMXV
from tests.dialects.own_tongue.requirements import HUB
from tests.dialects.relay.requirements import RELAY
from tests.dialects.requirements import Requirements, proven

HERE = Path(__file__).parent

each_dialect = pytest.mark.parametrize(
    ("promised", "folder"),
    [
        (HUB, HERE / "own_tongue"),
        (COMMHUB, HERE / "commhub"),
        (RELAY, HERE / "relay"),
        (GOLEMXV, HERE / "golemxv"),
        (CMDOP, HERE / "cmdop"),
    ],
    ids=["hub", "commhub", "relay", "golemxv", "cmdop"],
)


@each_dialect
def test_every_sentence_has_a_test(promised: Requirements, folder: Path) -> None:
    """Each sentence of the documents is proven by some test."""
    marked = {each for _test, ids in proven(folder) for each in ids}

    assert not [each for each in promised.ids if each not in marked]


@each_dialect
def test_every_test_names_sentences_that_there_are(promised: Requirements, folder: Path) -> None:
    """A test proves something that the documents say, each sentence named once."""
    tests = dict(proven(folder))

    assert tests
    for name, ids in tests.items():
        assert set(ids) <= set(promised.ids), name
        assert max(Counter(ids).values(), default=1) == 1, name


@each_dialect
def test_no_sentence_is_said_twice(promised: Requirements, folder: Path) -> None:
    """Each sentence stands once in the list, in its section."""
    said = [
        (name, sentence)
        for name, section in promised.sections.items()
        for sentence in section.sentences.values()
    ]

    assert len(set(said)) == len(said) == len(promised.ids)
