"""The view of a question for people, and its possible steps."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.model.fleet.approvals import ENDED, STEPS, ApprovalStatus, ApprovalStep
from hubbub.model.visible_text import STRING_LENGTH, abridged, cut, visible

TEXTS = st.text(st.characters(codec=None))


def test_plain_text_is_shown_as_it_is() -> None:
    """Whatever people can see is left as it is, in every script."""
    for text in ("git push origin main", "echo 'Grüße, 世界' | tee a.txt", "é́", "🎉 done", "a\\u200b"):
        assert visible(text) == text


def test_what_is_not_seen_is_written_out() -> None:
    """Controls, line ends, bidirectional marks, odd blanks, fillers and selectors are written out by their number."""
    hidden = "\x00\x1b\n\t\r\x85\xa0\xad\u200b\u200d\u202e\u2066\u2028\u3000\u3164\u2800\u034f\ufe0f\U000e0041\ue000"
    shown = visible(hidden)
    assert shown.startswith(r"\u0000\u001b\n\t\r\u0085\u00a0\u00ad\u200b")
    assert shown.endswith(r"\U000e0041\ue000")
    assert all(" " <= each <= "~" for each in shown)


@given(TEXTS)
def test_nothing_hides(text: str) -> None:
    """Whatever the text, what is shown stands on one line, holds nothing unseen, and is shown so again."""
    shown = visible(text)
    assert not [each for each in shown if unicodedata.category(each)[0] in "CZ" and each != " "]
    assert len(shown.splitlines()) <= 1
    assert visible(shown) == shown
    assert shown.encode().decode() == shown


@given(TEXTS, st.integers(41, 100))
def test_a_cut_text_says_so(text: str, length: int) -> None:
    """A text is whole, or it says how much is missing; it fits, and is not cut again."""
    shown = cut(text, length)
    assert len(shown) <= length
    assert shown == text or shown.endswith(" characters more)")
    assert cut(shown, length) == shown


@pytest.mark.system
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | TEXTS,
        lambda each: st.lists(each) | st.dictionaries(TEXTS, each),
    )
)
def test_arguments_of_any_form_can_be_kept(value: object) -> None:
    """Whatever the arguments of a call are, people can be shown them: as JSON, in UTF-8, without NUL."""
    text = json.dumps(abridged(value), ensure_ascii=False)
    assert "\\u0000" not in text.replace("\\\\u0000", "")
    assert text.encode().decode() == text


@given(st.integers(0, 5000), st.sampled_from(["x", "\n", "\0", "\U000e0001"]))
def test_what_is_abridged_again_says_the_same(length: int, character: str) -> None:
    """Arguments that a machine has abridged are kept as they are: what is missing is told of the text itself."""
    shown = abridged(character * length)
    assert isinstance(shown, str)
    assert len(shown) <= STRING_LENGTH
    assert abridged(shown) == shown
    kept, is_cut, missing = shown.partition("… (")
    seen = len(kept) // len(visible(character))
    assert (int(missing.split()[0]) if is_cut else 0) == length - seen


def test_what_has_ended_stays_so() -> None:
    """Only what nobody answered goes on after its end, to wait again or be withdrawn; a step leads to every status."""
    leaving = {step: (allowed & ENDED, to) for step, (allowed, to) in STEPS.items() if allowed & ENDED}
    unanswered = frozenset({ApprovalStatus.EXPIRED})
    assert leaving == {
        ApprovalStep.RESUME: (unanswered, ApprovalStatus.PENDING),
        ApprovalStep.WITHDRAW: (unanswered, ApprovalStatus.WITHDRAWN),
    }
    assert {to for _allowed, to in STEPS.values()} == set(ApprovalStatus)
