"""What the hub and machines say in English, where the page speaks another language."""

import json
import re
from pathlib import Path

from playwright.sync_api import expect

import shellgate.floor.shipped_policy
from hubbub.model import errors
from hubbub.model.errors import HubError
from tests.dashboard.browser import Visit, Watch

STATIC = Path(__file__).parents[2] / "src/hubbub/serve/dashboard/static"
HAN = re.compile(r"[\u4e00-\u9fff]")


def test_every_refusal_has_a_kind_in_chinese() -> None:
    """On a Chinese page each refusal of the hub says in Chinese what kind it is, before the hub's own sentence."""
    words = json.loads((STATIC / "words/zh-CN.json").read_text("utf-8"))["refusals"]
    kinds = (each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, HubError))
    codes = {each.code for each in kinds}
    assert len(codes) > 20
    assert codes - set(words) - {HubError.code} == set()
    assert [said for said in words.values() if not (HAN.search(said) and said.endswith("：{said}"))] == []


def test_every_reason_of_a_new_machine_is_translated() -> None:
    """The page knows each reason for which the policy of a new machine asks a person."""
    policy = Path(str(shellgate.floor.shipped_policy.__file__)).read_text("utf-8")
    reasons = re.findall(r'(?:return|OUTSIDE =|None else) "((?:it|only) [^"]+)"', policy)
    known = re.findall(r'\[/(\^.+\$)/, "needs\.reason_', (STATIC / "views/approval.js").read_text("utf-8"))
    patterns = [re.compile(each.replace("(?<", "(?P<").replace("[^]", r"[\s\S]")) for each in known]
    assert len(reasons) > 7
    assert [each for each in reasons if not any(pattern.match(each) for pattern in patterns)] == []


def test_a_refusal_is_told_in_chinese(visit: Visit, watch: Watch) -> None:
    """Who looks at a Chinese page is told the kind of a refusal in Chinese, and in the hub's words which one it is."""
    watch.expect(409)
    page = visit("/settings?tab=people", language="zh-CN")
    role = page.locator("select[aria-label*=owner]")
    role.evaluate("(each) => { each.disabled = false; }")  # as it was a moment ago, with another owner
    role.select_option("member")
    expect(page.get_by_role("alert")).to_contain_text(re.compile("与当前状态冲突：.*needs an owner"))
