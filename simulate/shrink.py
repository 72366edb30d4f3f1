"""Shrinking: find the fewest steps that still break the same promise, and print them as a test."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

from simulate.play import Failure, Step, Story, play
from simulate.store import Fate

Fails = Callable[[Story], Failure | None]
MOST_PLAYS = 600


class _Tries:
    """Tries of smaller stories, up to a number."""

    def __init__(self, failure: Failure, fails: Fails) -> None:
        self.best, self._fails, self._left = failure, fails, MOST_PLAYS

    def fails(self, story: Story) -> bool:
        """Tell whether the story still breaks the same promise; if so, keep it as the best so far."""
        if self._left == 0:
            return False
        self._left -= 1
        found = self._fails(story)
        if found is None or found.kind != self.best.kind:
            return False
        self.best = replace(found, story=replace(story, steps=story.steps[: found.steps]))
        return True


def shrunk(failure: Failure, fails: Fails = play) -> Failure:
    """Return the failure of the smallest story found that breaks the same promise.

    Steps are left out in halves, quarters and so on, as in Zeller's delta debugging, and then simplified one by one.
    """
    story = failure.story
    tries = _Tries(replace(failure, story=replace(story, steps=story.steps[: failure.steps])), fails)
    size = len(tries.best.story.steps) // 2
    while size >= 1:
        if not _without(tries, size):
            size //= 2
    for place in range(len(tries.best.story.steps)):
        _plainer(tries, place)
    return tries.best


def _without(tries: _Tries, size: int) -> bool:
    """Leave out pieces of that size where the story still fails; tell whether any was left out."""
    place, any_left_out = 0, False
    while place < len(tries.best.story.steps):
        steps = tries.best.story.steps
        if tries.fails(replace(tries.best.story, steps=steps[:place] + steps[place + size :])):
            any_left_out = True
        else:
            place += size
    return any_left_out


def _plainer(tries: _Tries, place: int) -> None:
    """Make a step run alone and without an accident."""
    if place >= len(steps := tries.best.story.steps):
        return
    for change in ({"beside": False}, {"fate": Fate.NONE}):
        now = tries.best.story.steps[place] if place < len(tries.best.story.steps) else steps[place]
        plain = replace(now, **change)
        if plain != now:
            changed = chain(tries.best.story.steps[:place], [plain], tries.best.story.steps[place + 1 :])
            tries.fails(replace(tries.best.story, steps=tuple(changed)))


def as_test(failure: Failure) -> str:
    """Return the source of a test that plays the story."""
    story = failure.story
    machine = "\n        machine=True," if story.machine else ""
    return f'''
def test_seed_{story.seed}() -> None:
    """{failure.said.strip().splitlines()[-1][:110]}"""
    story = Story(
        {story.seed},
        {story.modes},
        (
{_lines(story.steps)}
        ),{machine}
    )
    assert play(story) is None
'''


def _lines(steps: Sequence[Step]) -> str:
    return "\n".join(f"            {each}," for each in steps)
