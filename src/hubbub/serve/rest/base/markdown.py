"""Agents' text as HTML that a browser may show: Markdown without raw HTML, reduced to known elements.

There are two barriers. The parser knows no HTML and no pictures; its output is then reduced to a
list of elements and attributes. A link leads to a web page, to a mail program, or to a task of this hub, and nowhere
else. A text that is too costly is shown as it was written.
"""

import hashlib
import html
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from hubbub.model.text_limits import LONGEST_TEXT

REMEMBERED = 4_000_000  # characters of HTML that are cached
NESTING = 20  # of lists, quotations and the like
LONGEST_LINE = 10_000  # characters of a paragraph that are parsed as Markdown
LINES = 4_000  # that are parsed as Markdown
MARKS = 600  # characters in one paragraph that may be marks; nobody writes more

_TAGS = frozenset(
    "p br hr strong em s code pre blockquote ul ol li a table thead tbody tr th td".split()  # noqa: SIM905
)
_ATTRIBUTES = {"a": {"href", "title", "target"}, "ol": {"start"}}
_SCHEMES = frozenset({"http", "https", "mailto"})
_REL = "noopener noreferrer nofollow"
_OUTSIDE = re.compile(r"(?:https?://[^/\s\\]|mailto:)", re.IGNORECASE)
_TASK_PAGE = re.compile(r"/t/[0-9]{1,18}")
_TASK = re.compile(r"(?<![\w/#&.-])(?:#|T-)([1-9][0-9]{0,9})(?![\w-])", re.ASCII)
_MARK = re.compile(r"[\[\]*_~`<&!|]")


class _Kept:
    """A cache of the last rendered texts, up to a size."""

    def __init__(self, room: int) -> None:
        self._room, self._used = room, 0
        self._known: OrderedDict[bytes, str] = OrderedDict()
        self._lock = Lock()

    def get(self, key: bytes) -> str | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def put(self, key: bytes, rendered: str) -> None:
        with self._lock:
            if key in self._known:
                return
            self._known[key] = rendered
            self._used += len(rendered)
            while self._used > self._room:
                _oldest, dropped = self._known.popitem(last=False)
                self._used -= len(dropped)


def render(text: str) -> str:
    """Render any text as safe HTML; beyond 50,000 characters it is cut."""
    key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    known = _KEPT.get(key)
    if known is None:
        known = _rendered(text)
        _KEPT.put(key, known)
    return known


def _rendered(text: str) -> str:
    kept = text[:LONGEST_TEXT].encode("utf-8", "replace").decode()
    more = "…" if len(text) > LONGEST_TEXT else ""
    made = _plain(kept + more) if _is_too_much(kept) else _PARSER.render(kept + more)
    return nh3.clean(
        made,
        tags=set(_TAGS),
        attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
        attribute_filter=_allowed,
        url_schemes=set(_SCHEMES),
        link_rel=_REL,
    )


def _is_too_much(text: str) -> bool:
    """Tell whether parsing would take long: its time grows with the lines, and the square of a paragraph's marks."""
    return text.count("\n") > LINES or any(
        len(block) > LONGEST_LINE or len(_MARK.findall(block)) > MARKS for block in re.split(r"\n\s*\n", text)
    )


def _plain(text: str) -> str:
    """Render the text as it was written."""
    paragraphs = (part.replace("\n", "<br>\n") for part in re.split(r"\n\s*\n", html.escape(text)))
    return "".join(f"<p>{part}</p>\n" for part in paragraphs)


def _allowed(tag: str, name: str, value: str) -> str | None:
    """Return the value that an attribute may have; None for none."""
    match tag, name:
        case "a", "href":
            return value if _OUTSIDE.match(value) or _TASK_PAGE.fullmatch(value) else None
        case "a", "target":
            return value if value == "_blank" else None
        case "ol", "start":
            return value if value.isdigit() and len(value) < len("1000000000") else None
    return value


def _parser() -> MarkdownIt:
    """Return a parser that keeps every line of a text, as programs print lists that are no Markdown."""
    parser = MarkdownIt(
        "commonmark", {"html": False, "linkify": False, "breaks": True, "maxNesting": NESTING}
    )
    parser.enable(["table", "strikethrough"]).disable(["image", "html_block", "html_inline"])
    parser.core.ruler.push("hub", _adapt)
    return parser


def _adapt(state: StateCore) -> None:
    """Adapt the parser's tokens to a page with headings, and tasks, of its own."""
    for place, token in enumerate(state.tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = "p"
        elif token.type == "th_open" and not _is_seen(state.tokens[place + 1].content):
            token.tag = state.tokens[place + 2].tag = "td"  # the head of a column is not empty
        if token.type == "inline":
            children = list(_with_tasks(token.children or []))
            is_heading = state.tokens[place - 1].type == "heading_open"
            token.children = _strong(children) if is_heading else children


def _with_tasks(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield a paragraph's tokens with links at tasks' numbers; each link gets words and opens a new window."""
    depth = 0
    for place, token in enumerate(tokens):
        depth += token.nesting if token.type.startswith("link_") else 0
        if token.type == "text" and depth == 0:
            yield from _named(token.content)
            continue
        if token.type == "link_open" and _OUTSIDE.match(str(token.attrGet("href") or "")):
            token.attrSet("target", "_blank")
        yield token
        if token.type == "link_open" and not _is_seen(_words(tokens[place + 1 :])):
            yield _text(str(token.attrGet("href") or "") or "…")


def _named(text: str) -> Iterator[Token]:
    """Yield a text's tokens with links at the numbers of tasks."""
    end = 0
    for found in _TASK.finditer(text):
        yield _text(text[end : found.start()])
        yield Token("link_open", "a", 1, attrs={"href": f"/t/{found[1]}"})
        yield _text(found[0])
        yield Token("link_close", "a", -1)
        end = found.end()
    yield _text(text[end:])


def _words(tokens: Sequence[Token]) -> str:
    """Return the words of a link that begins before these tokens."""
    words = []
    for token in tokens:
        if token.type == "link_close":
            break
        words.append(token.content)
    return "".join(words)


def _is_seen(text: str) -> bool:
    """Tell whether the text has a visible character."""
    return any(unicodedata.category(each)[0] not in "CZ" for each in text)


def _strong(tokens: Sequence[Token]) -> list[Token]:
    return [Token("strong_open", "strong", 1), *tokens, Token("strong_close", "strong", -1)]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


_PARSER = _parser()
_KEPT = _Kept(REMEMBERED)
