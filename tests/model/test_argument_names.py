"""Wrong arguments, in plain words."""

from collections.abc import Sequence

import pytest
from pydantic import BaseModel, Field, ValidationError

from hubbub.model.argument_names import meant
from hubbub.model.json_fields import validation_message


class _Item(BaseModel):
    size: int


class _Given(BaseModel):
    name: str = Field(min_length=1)
    sizes: list[int]
    is_open: bool
    items: list[_Item]


@pytest.mark.parametrize(
    ("word", "known", "likely"),
    [
        ("waiting", ("blocked", "waiting_input"), "waiting_input"),
        ("waiting", ("blocked", "working"), "blocked"),
        ("wait", ("limit", "wait_seconds"), "wait_seconds"),
        ("percent", ("task", "progress"), "progress"),
        ("task", ("task", "task_id"), "task"),
    ],
)
def test_the_word_that_was_meant(word: str, known: Sequence[str], likely: str) -> None:
    """A word itself comes first, then a longer one that begins with it, then one that others have for it."""
    assert meant(word, known) == likely


def test_a_wrong_value_is_told_in_plain_words() -> None:
    """A sentence about a value names what it must be, in the words of JSON and not in those of a library."""
    with pytest.raises(ValidationError) as raised:
        _Given.model_validate({"name": "", "sizes": 3, "is_open": "maybe", "items": [3]})
    assert validation_message(raised.value.errors()) == (
        "name: must not be empty; sizes: must be a list; is_open: must be true or false; items.0: must be an object"
    )
