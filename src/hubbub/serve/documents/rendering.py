"""Rendering of documents as HTML: headings that can be linked to, links that lead to the hub's own pages.

The texts are the project's own, and still only Markdown passes: HTML in them is for other readers, and left out. So are
pictures: they show the dashboard, which these readers have.
"""

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from hubbub.serve.documents.library import Document, Library

_PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_HTML = frozenset({"html_block", "html_inline"})


def render(library: Library, document: Document) -> Markup:
    """Return the document for a page of the hub."""
    tokens = [token for token in _PARSER.parse(document.text) if token.type not in _HTML]
    _name_headings(document, tokens)
    for token in tokens:
        token.children = _shown(library, document, token.children or [])
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))  # noqa: S704  # ours, and no HTML in it


def _name_headings(document: Document, tokens: Sequence[Token]) -> None:
    """Give each heading the name that links use."""
    headings = (token for token in tokens if token.type == "heading_open")
    for heading, section in zip(headings, document.sections, strict=True):
        heading.attrSet("id", section.anchor)


def _shown(library: Library, document: Document, children: Sequence[Token]) -> list[Token]:
    """Return the shown tokens of a paragraph; a link to a page that the hub does not serve becomes its words alone."""
    shown: list[Token] = []
    ends: list[bool] = []  # for each open link, whether it leads anywhere
    for token in children:
        if token.type == "link_open":
            target = library.target(document, str(token.attrGet("href")))
            ends.append(target is not None)
            if target is not None:
                token.attrSet("href", target)
                shown.append(token)
        elif token.type == "link_close":
            shown += [token] if ends.pop() else []
        elif token.type == "image":
            shown.append(Token("text", "", 0, content=token.content))
        elif token.type not in _HTML:
            shown.append(token)
    return shown
