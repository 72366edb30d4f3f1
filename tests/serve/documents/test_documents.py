"""The documents as a hub serves them: all of them, for anyone, with links that lead on and a search that finds."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub import __version__
from hubbub.serve.documents.library import Document, Library
from hubbub.serve.documents.rendering import render
from tests.serve.browser import Browser, browsing
from tests.serve.dashboard.test_pages import POLICY
from tests.serve.served_hub import Hub

HOSTILE = '<img src=x onerror="alert(1)">'
LEADS = re.compile(r'href="([^"]+)"')
ID = re.compile(r' id="([^"]+)"')
FOUND = re.compile(r'<li><a href="([^"]+)">([^<]+)</a>\s*<p>.*?<mark>(.*?)</mark>', re.DOTALL)


@pytest.fixture
def stranger(hub: Hub) -> Iterator[Browser]:
    """A browser that has not signed in."""
    with browsing(hub) as browser:
        yield browser


@pytest.mark.system
def test_every_document_can_be_read_and_its_links_lead_on() -> None:
    """Each page of the project has an address; what it links to on the hub is there, down to the heading."""
    library = Library.own()
    made = {address: render(library, each) for address, each in library.documents.items()}

    assert {"/docs", "/docs/quickstart", "/docs/clients", "/docs/changelog"} <= set(made)
    links = [link for text in made.values() for link in LEADS.findall(text)]
    assert [link for link in links if not link.startswith(("/docs", "http"))] == []
    inside = [link.partition("#") for link in links if link.startswith("/docs")]
    assert len(inside) > 300
    assert [
        f"{page}#{anchor}"
        for page, _, anchor in inside
        if page not in made or (anchor and anchor not in ID.findall(made[page]))
    ] == []


def test_of_a_document_only_what_is_written_is_shown(tmp_path: Path) -> None:
    """HTML and pictures of a text are left out, and a link to what the hub does not serve is its words alone."""
    texts = ("# A", HOSTILE, "<b>bold</b> ![a picture](p.png) [code](../src/x.py) [B](#b)", "## B", "## B")
    page = render(Library(tmp_path), Document("docs/a.md", "\n\n".join(texts)))

    assert page == (
        '<h1 id="a">A</h1>\n<p>bold a picture code B</p>\n<h2 id="b">B</h2>\n<h2 id="b-1">B</h2>\n'
    )


def test_anyone_reads_the_documents_of_the_version_that_runs(stranger: Browser) -> None:
    """A visitor who has not signed in reads them too, as pages that run no script; other names of a page lead to it."""
    first = stranger.visit("/docs")
    page = stranger.visit("/docs/how-to/waking")
    named = re.findall(r'(?:href|src)="(/assets/[^"]+)"', page.text)

    assert (first.status_code, page.status_code) == (200, 200)
    assert f"<small>{__version__}</small>" in first.text
    assert '<a href="/docs/how-to/waking" aria-current="page">' in page.text
    assert page.headers["content-security-policy"] == POLICY
    assert "<script" not in page.text
    assert [name for name in named if stranger.http.get(name).status_code != 200] == []
    for other in ("/docs/How-To/Waking.md", "/docs/how-to/waking/"):
        assert stranger.visit(other).headers["location"] == "/docs/how-to/waking"
    missing = stranger.visit("/docs/how-to/nothing")
    assert (missing.status_code, 'href="/docs"' in missing.text) == (404, True)


def test_a_search_tells_the_sections_that_say_all_its_words(stranger: Browser) -> None:
    """Headings come before texts; what nobody says is said so, and whatever is typed is text."""
    found = FOUND.findall(stranger.visit("/docs?q=Getting+in").text)
    elsewhere = FOUND.findall(stranger.visit("/docs?q=kill+lease+epoch").text)
    nothing = stranger.visit("/docs?q=dashboard+xyzzy").text
    hostile = stranger.visit(f"/docs?q={HOSTILE}").text

    assert found[0][:2] == ("/docs/dashboard#getting-in", "The dashboard › Getting in")
    assert elsewhere
    assert FOUND.findall(nothing) == []
    assert "“dashboard xyzzy” is not in the documentation" in nothing
    assert "onerror" in hostile
    assert HOSTILE not in hostile
