"""Why something is as it is, in the language of the page: the hub's facts, with the page's own words."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from hubbub.core.why.sentences import WORDS
from tests.dashboard.browser import Visit
from tests.dashboard.scene import Scene

STATIC = Path(__file__).parents[2] / "src/hubbub/serve/dashboard/static"
HAN = re.compile(r"[\u4e00-\u9fff]")
VALUE = re.compile(r"\{(\w+)\}")


def words(language: str) -> dict[str, str]:
    told: dict[str, str] = json.loads((STATIC / "words" / f"{language}.json").read_text("utf-8"))["why"]
    return told


def test_every_fact_has_words_in_both_languages() -> None:
    """The page has the hub's English word for word, and each of its keys in Chinese with the same values."""
    assert words("en") == WORDS
    chinese = words("zh-CN")
    needed = {key for key in WORDS if not key.endswith("_one")}
    assert set(chinese) == needed
    wrong = {key for key in needed if set(VALUE.findall(chinese[key])) != set(VALUE.findall(WORDS[key]))}
    assert wrong == set()
    names = {"named_task", "ago", "ahead"}  # which are made of signs, and of what is told elsewhere
    signs = {"placed_died", "approval_shown", "by", "reason"}
    assert {key for key in needed - names - signs if not HAN.search(VALUE.sub("", chinese[key]))} == set()


@pytest.mark.parametrize(
    ("language", "said", "unsaid"),
    [("en", r"^Task T-\d+ has been blocked since ", HAN), ("zh-CN", r"^任务 T-\d+ 自 .*前）起受阻", "since")],
)
def test_why_is_told_in_the_language_of_the_page(
    visit: Visit, scene: Scene, language: str, said: str, unsaid: str | re.Pattern[str]
) -> None:
    """The account at a task's side is in English as tools are told it, and in Chinese on a Chinese page."""
    page = visit(f"/t/{scene.tasks['blocked'][0].number}", language=language)
    facts = page.get_by_role("complementary").get_by_role("note").get_by_role("listitem")
    expect(facts.first).to_have_text(re.compile(said))
    expect(facts.filter(has_text=unsaid)).to_have_count(0)
