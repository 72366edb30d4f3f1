"""The limits of REST bodies, and the parts of the shapes of answers."""

from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from hubbub.model.records import Task
from hubbub.serve.rest.application import ROUTERS
from hubbub.serve.rest.base.shapes import Body, Shape, tells

assert ROUTERS  # with them all bodies are known
HALF = "a\ud800b"  # of a surrogate pair
# Each need judges what it takes; a call's arguments are among that, which people see with such characters written out.
JUDGED_LATER = {("Needed", "content")}


def bodies(of: type[Body] = Body) -> Iterator[type[Body]]:
    """Every body that there is."""
    for body in of.__subclasses__():
        yield body
        yield from bodies(body)


@pytest.mark.parametrize("body", sorted(bodies(), key=str), ids=lambda body: str(body.__name__))
def test_no_text_holds_what_cannot_be_sent_on(body: type[Body]) -> None:
    """Half a surrogate pair is refused wherever a body may hold text."""
    for name in body.model_fields:
        for value in (HALF, [HALF], {"text": HALF}, {HALF: 1}):
            if (body.__name__, name) in JUDGED_LATER:
                continue
            with pytest.raises(ValidationError) as refused:
                body.model_validate({name: value})
            assert name in [problem["loc"][0] for problem in refused.value.errors() if problem["loc"]]


def test_a_shape_that_tells_a_noun_loses_nothing() -> None:
    """A shape that is made from a noun has members only: one with a method is refused when its module is imported."""
    with pytest.raises(TypeError, match="TaskWithMethod tells a noun, and has members only: not shout"):

        @tells(Task)
        class TaskWithMethod(Shape):
            def shout(self) -> str:
                return "!"
