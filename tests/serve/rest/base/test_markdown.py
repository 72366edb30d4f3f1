"""Agents' text as HTML: what comes out of it, and what never does, whatever goes in."""

from html.parser import HTMLParser

import pytest

from hubbub.model.text_limits import LONGEST_TEXT
from hubbub.serve.rest.base import markdown

TAGS = frozenset(
    "p br hr strong em s code pre blockquote ul ol li a table thead tbody tr th td".split()  # noqa: SIM905
)
ATTRIBUTES = {"a": {"href", "title", "target", "rel"}, "ol": {"start"}}

HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>",
    "<iframe src=//evil.example>", "<a href=javascript:alert(1)>x</a>", "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))", "[x](java\nscript:alert(1))", "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)", "[x](vbscript:msgbox)", "[x](//evil.example/x)",
    "[x](/\\evil.example)", "[x](\\\\evil.example)", "[x](https:evil)", "[x](/login?next=/)",
    "[x](/t/1/../../logout)", "[x](/t/1?x=<script>)", "![x](https://evil.example/pixel.png)",
    "![x](data:image/svg+xml,<svg/onload=alert(1)>)", "<javascript:alert(1)>",
    "<https://e.example/\"onmouseover=alert(1)>", "[x](https://e.example 'a\" onclick=alert(1) b')",
    "[x]: javascript:alert(1)\n\n[x]", "[a](<javascript:alert(1)>)", "**<b onclick=alert(1)>x</b>**",
    "<!-- --><script>x</script>", "<![CDATA[<script>x</script>]]>", "<?php x ?>",
    "<style>*{display:none}</style>", "<form action=//evil.example><input name=password>",
    "<base href=//evil.example>", "<meta http-equiv=refresh content=0>", "<object data=x>",
    "<math><mi//xlink:href='data:x,<script>'>", "`<script>` and ```\n<script>\n```",
    "| a | b |\n|:--|--:|\n| <script> | x |", "</p></div><script>alert(1)</script>",
    "<p style=position:fixed>x", "[x](file:///etc/passwd)", "[x](ftp://e.example)",
    "[x](blob:https://e.example/1)", "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\u202e[x](https://e.example)\u202c", "a\0b", "\ud800", "[](https://e.example)",
    "[\u200b](https://e.example)", "1000000000000. x", "<a name=x id=y class=z>",
    "[x](https://user:pw@e.example)", "\x1b]8;;x\x07", "<x" * 500,
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<svg></p><style><a id='</style><img src=1 onerror=alert(1)>'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "[x](<https://e.example'><img src=x onerror=alert(1)>>)", "[[x](https://e.example)](javascript:alert(1))",
    "[![x](https://e.example/p.png)](javascript:alert(1))", "[x](\x01javascript:alert(1))",
    "[x](java&#x0A;script:alert(1))", "[x](java&Tab;script:alert(1))", "[x](javascript&colon;alert(1))",
    "[x](%6Aavascript:alert(1))", "[x](\u00a0javascript:alert(1))", "[x](https:/\\evil.example)",
    "[x](///evil.example)", "[x](http:///evil.example)", "[x](/t/12//evil.example)", "[x](/t/１２)",
    "```js' onclick=alert(1)\n<script>\n```", "[x](https://e.example \"a' onclick=alert(1) b\")",
]  # fmt: skip


class Seen(HTMLParser):
    """The elements of a text of HTML, and the words between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.other: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_decl(self, decl: str) -> None:
        self.other.append(decl)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)


def test_there_are_enough_hostile_texts() -> None:
    """At least seventy ways to smuggle something in are tried."""
    assert len(HOSTILE) >= 70


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_hostile_comes_out(text: str) -> None:
    """Only known elements and attributes come out, and links that lead to the web, to mail, or to a task."""
    seen = Seen(markdown.render(text))
    assert seen.other == []
    for tag, attributes in seen.elements:
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES.get(tag, set())
        href = attributes.get("href")
        if href is not None:
            assert href.startswith(
                ("https://e.example", "https://user", "/t/", "mailto:", "https://evil.example/pixel")
            )
            assert attributes["rel"] == "noopener noreferrer nofollow"
            assert attributes.get("target") == (None if href.startswith("/t/") else "_blank")


@pytest.mark.parametrize(
    ("text", "html"),
    [("**bold** *it* ~~no~~ `code`", "<p><strong>bold</strong> <em>it</em> <s>no</s> <code>code</code></p>\n"),
     ("# Title\ntext", "<p><strong>Title</strong></p>\n<p>text</p>\n"),
     ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"),
     ("3. c", '<ol start="3">\n<li>c</li>\n</ol>\n'),
     ("```sh\nls <x>\n```", "<pre><code>ls &lt;x&gt;\n</code></pre>\n"),
     ("1,499 functions\nthe longest has 46", "<p>1,499 functions<br>\nthe longest has 46</p>\n"),
     ("> said", "<blockquote>\n<p>said</p>\n</blockquote>\n"),
     ("a & b < c", "<p>a &amp; b &lt; c</p>\n"),
     ("", "")],
)  # fmt: skip
def test_markdown_becomes_html(text: str, html: str) -> None:
    """Handwritten text looks as people mean it; a heading is a bold line, since the page has its own."""
    assert markdown.render(text) == html


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("see #12", ["12"]), ("T-13, and (#14)", ["13", "14"]), ("#1.", ["1"]), ("`#12`", []), ("a#12", []),
     ("##12", []), ("#0", []), ("#12a", []), ("https://x.example/#12", []), ("[#12](https://e.example)", []),
     ("```\n#12\n```", []), ("UT-12", []), ("#12345678901", [])],
)  # fmt: skip
def test_tasks_that_are_named_are_links(text: str, numbers: list[str]) -> None:
    """`#12` and `T-12` lead to the task of that number; not in code, in another link, or as part of a word."""
    links = [
        attributes["href"]
        for _tag, attributes in Seen(markdown.render(text)).elements
        if "href" in attributes
    ]
    assert [link for link in links if link and link.startswith("/t/")] == [
        f"/t/{number}" for number in numbers
    ]


@pytest.mark.parametrize(
    "text", ["[](https://e.example)", "[\u200b](https://e.example)", "[ ](<https://e.example>)"]
)
def test_a_link_has_words(text: str) -> None:
    """A link that shows nothing shows where it leads."""
    assert "https://e.example" in Seen(markdown.render(text)).words


def test_an_empty_head_of_a_column_is_none() -> None:
    """A head of a column that says nothing is an ordinary cell."""
    made = markdown.render("| a | |\n|--|--|\n| 1 | 2 |")
    assert made.count("<th>") == 1
    assert made.count("<td>") == 3


@pytest.mark.parametrize(
    "text",
    ["[" * 50_000, "*a **b " * 7_000, ">" * 50_000, "`a" * 25_000, "* " * 25_000, "<" * 50_000, "![a](" * 10_000,
     "a|b\n-|-\n" + "|\n" * 20_000, "&" * 50_000, "~~a " * 12_000, "x" * 50_000, "[a]: /x\n" * 6_000,
     "[\n\n" * 16_666, "(a\n" * 16_666],
    ids=range(14),
)  # fmt: skip
def test_what_would_take_long_is_shown_as_it_was_written(text: str) -> None:
    """A text that nobody would write keeps nobody waiting: its characters are shown, and nothing of it is lost."""
    seen = Seen(markdown.render(text))
    kept = "".join(text[:LONGEST_TEXT].split())
    assert {tag for tag, _attributes in seen.elements} <= TAGS
    if not kept.startswith(("a|b", "[a]:", ">")):
        assert "".join(seen.words.split()) == kept


def test_a_long_text_is_cut() -> None:
    """The beginning of a text beyond 65,536 characters is shown, with a sign that there was more."""
    made = Seen(markdown.render("a b\n\n" * 20_000)).words
    assert made.strip().endswith("…")
    assert len(made) <= LONGEST_TEXT + 100


def test_what_was_rendered_is_remembered_while_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same text is rendered once; what was not asked for longest goes first when there is no more room."""
    made: list[str] = []
    monkeypatch.setattr(markdown, "_KEPT", markdown._Kept(100))

    def rendered(text: str) -> str:
        made.append(text)
        return text * 40

    monkeypatch.setattr(markdown, "_rendered", rendered)
    for text in ("a", "b", "a", "c", "a", "b"):
        assert markdown.render(text) == text * 40
    assert made == ["a", "b", "c", "b"]
