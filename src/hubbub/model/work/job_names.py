"""Issues, pull requests and branches that a task is about, as people and agents write them, in English and Chinese.

A name mentioned on the side, as in `after #9` or `see octo/site#5`, is not what the task is about.
"""

import re
from collections.abc import Iterator
from itertools import chain

_ADDRESS = re.compile(
    r"https?://[\w.-]+/([\w.-]+/[\w.-]+)/(?:-/)?(?:issues|pulls?|merge_requests)/([1-9][0-9]{0,8})(?:[/#?]\S*)?"
)
_NUMBERED = re.compile(
    r"(?<![\w/&#])(?:([\w.-]+/[\w.-]+))?[#!]([1-9][0-9]{0,6})(?![\w-])"
    r"|(?<!\w)(?:issue|bug|ticket|pr|pull request|mr|merge request|gh)s?[ -]?(?:no\.? ?|number )?#?([1-9][0-9]{0,6})"
    r"(?!\w)|(?:问题|工单|议题|缺陷|合并请求|拉取请求) ?#?([1-9][0-9]{0,6})(?!\w)",
    re.IGNORECASE,
)
_KEY = re.compile(r"(?<![\w-])([A-Z][A-Z0-9]{1,9}|T)-([1-9][0-9]{0,8})(?![\w-])")
_NO_KEYS = frozenset(
    """UTF ISO SHA MD RFC HTTP TLS SSL GPT PEP ES IPV MP ADR EC AES RSA WIN X PHASE STEP PART WEEK DAY""".split()  # noqa: SIM905
)  # words that look like the key of an issue, and are none
_BRANCHES = (
    re.compile(r"(?:\bbranch|分支) *(?:called |named |of )?[`'\"“‘]?([A-Za-z0-9][\w./-]*\w)"),
    re.compile(r"(?<![\w/.-])([A-Za-z0-9][\w./-]*\w)[`'\"”’]? (?:branch\b|分支)"),
)
_NO_BRANCHES = frozenset(
    {"main", "master", "develop", "dev", "trunk", "head", "release"}
)  # branches beside which everybody works
_QUOTES = tuple("`'\"“‘")
_DIGIT = re.compile("[0-9]")

_BEFORE = 32  # characters around a name that say whether the task is about it
_BESIDE = re.compile(
    r"(?:\b(?:see|like|after|since|unlike|cf\.?|until|once|before|without|when|while|than|following|except|not"
    r"|for later|as (?:in|with|for|of)|follow(?:s|ed|ing)?[ -]up (?:to|of|on|for)|related to|similar to|in addition to"
    r"|(?:depend(?:s|ing)?|wait(?:s|ing)?|based|builds?|rebased?|on top) (?:on|upon|for|of|onto)|merged? (?:with|into)"
    r"|(?:blocked|introduced|caused|broken|added|unblocked|found|left) (?:by|in|over|from)|copied from|same \w+ as)"
    r"|参[见考照]|依赖于?|等待?|基于|类似于?|后续|之后|除了|由于?)"
    r"(?: the| our| my)?(?: issues?| prs?| pull requests?| tickets?| bugs?| branch| 问题| 分支)? *[`'\"(“]?$",
    re.IGNORECASE,
)
_AFTERWARDS = re.compile(
    r"""^[`'")”]? *(?:(?:is|was|are|gets?|has been|being) (?:merged|done|closed|fixed|in)\b"""
    r"|之后|以后|后|合并后|完成后)"
)


def names(text: str) -> Iterator[tuple[str, str]]:
    """Yield the issues, pull requests and branches that a task is about, each as it is written there."""
    has_digits = _DIGIT.search(text) is not None
    for found in _ADDRESS.finditer(text) if "://" in text else ():
        if _is_subject(text, found):
            yield f"{found[1]}#{found[2]}".lower(), found[0]
    for found in _NUMBERED.finditer(text) if has_digits else ():
        if _is_subject(text, found):
            yield f"{found[1] or ''}#{found[2] or found[3] or found[4]}".lower(), found[0]
    for found in _KEY.finditer(text) if has_digits and "-" in text else ():
        if found[1] not in _NO_KEYS and _is_subject(text, found):
            yield found[0].lower(), found[0]
    for found in (
        chain.from_iterable(each.finditer(text) for each in _BRANCHES)
        if "branch" in text or "分支" in text
        else ()
    ):
        name = found[1]
        is_quoted = text[: found.start(1)].endswith(_QUOTES)
        is_name = name.lower() not in _NO_BRANCHES and (is_quoted or not name.isalpha())
        if is_name and _is_subject(text, found):
            yield f"branch {name}", name


def _is_subject(text: str, found: re.Match[str]) -> bool:
    """Tell whether the task is about the name, and does not only mention it."""
    return not (
        _BESIDE.search(text[max(0, found.start() - _BEFORE) : found.start()])
        or _AFTERWARDS.match(text[found.end() : found.end() + _BEFORE])
    )
