"""The list of what CommHub promises and the tests of it, compared with each other."""

from collections import Counter
from pathlib import Path

from tests.dialects.commhub.requirements import COMMHUB
from tests.dialects.requirements import proven

HERE = Path(__file__).parent


def test_every_sentence_has_a_test() -> None:
    """What the documents promise, some test proves."""
    marked = {each for _test, ids in proven(HERE) for each in ids}

    assert not [each for each in COMMHUB.ids if each not in marked]


def test_every_test_names_sentences_that_there_are() -> None:
    """A test proves something that the documents say, each sentence named once."""
    tests = dict(proven(HERE))

    assert tests
    for name, ids in tests.items():
        assert set(ids) <= set(COMMHUB.ids), name
        assert max(Counter(ids).values(), default=1) == 1, name


def test_no_sentence_is_said_twice() -> None:
    """Each sentence stands once in the list, in its section."""
    said = [
        (name, sentence)
        for name, section in COMMHUB.sections.items()
        for sentence in section.sentences.values()
    ]

    assert len(set(said)) == len(said) == len(COMMHUB.ids)
