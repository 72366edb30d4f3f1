"""The files of the dashboard: how they are served, how small they are, and that they are what they claim to be."""

import hashlib
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

import hubbub.serve
from hubbub.serve.dashboard.assets import FOLDER, STYLES, Assets
from hubbub.serve.http.page_paths import VIEWS

SMALL, MORE = 85_000, 10_000  # bytes, compressed: of the first screens, and what any other view may add
BINARY = {".woff2", ".png"}
NAMESPACES = re.compile(r"http://www\.w3\.org/\d{4}/[\w/]+")  # they name formats, and are never asked for
ADDRESS = re.compile(r"""(?:https?|wss?):\\?/\\?/[^\s"'`)<>]+|url\(["']?//[^)]+""")
EXAMPLE = re.compile(
    r"\w+://(?:[\w.-]+\.)?(?:example(?:\.(?:com|org|net))?|localhost|127\.0\.0\.1)\b"
)  # leads nowhere
FILES = {file.relative_to(FOLDER).as_posix(): file for file in sorted(FOLDER.rglob("*")) if file.is_file()}
TINY = {
    "app.js": b'import { a } from "./ui/a.js";\n',
    "ui/a.js": b'import { b } from "../b.js";\nexport const a = () => import("./lazy.js");\n',
    "ui/lazy.js": b"export const c = 1;\n",
    "b.js": b"export const b = 1;\n",
    "views/board.js": b'import { b } from "../b.js";\nimport { d } from "./board/d.js";\n',
    "views/board/d.js": b'import { e } from "../../e.js";\nexport const d = e;\n',
    "e.js": b"export const e = 1;\n",
    "styles/FIRST": b"one.css\ntwo.css\n",
    "styles/LATER": b"three.css\n",
    "styles/one.css": b"/* the first */\na {}\n",
    "styles/two.css": b"b {}\n",
    "styles/three.css": b"c :is(d, e) {\n  f: g h;\n}\n",
    "note.json": b'{"note": 1}' * 100,
    "font.woff2": b"\0" * 1000,
    "secret.py": b"x",
}


@pytest.fixture
def tiny() -> Assets:
    return Assets(TINY)


@pytest.fixture
def web(tiny: Assets) -> TestClient:
    return TestClient(Starlette(routes=tiny.routes()))


def test_a_file_is_kept_for_ever(web: TestClient, tiny: Assets) -> None:
    """It is sent with its kind, packed for who takes it so, and with word that it never changes."""
    answer = web.get(f"{tiny.root}/note.json")
    assert answer.content == TINY["note.json"]
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert int(answer.headers["content-length"]) < len(TINY["note.json"])
    for refusing in ("identity", "", "br", "gzip;q=0", "gzip; q=0.000"):
        plain = web.get(f"{tiny.root}/note.json", headers={"Accept-Encoding": refusing})
        assert ("content-encoding" in plain.headers, plain.content) == (False, TINY["note.json"])
    assert "content-encoding" not in web.get(f"{tiny.root}/font.woff2").headers


def test_our_comments_stay_in_the_package() -> None:
    """Lines that are comments go empty before they are served, by our files alone; what only looks like one stays."""
    stays = b"const a = `//b`; // stays\n/* e */ f(1 /* d */ / 2);\n"
    code = b"// of its own\n/**\n * @type {a}\n */\n  // in\n" + stays
    files = Assets({**TINY, "c.js": code, "vendor/d.js": code}).files
    assert files["c.js"].plain == b"\n" * 5 + stays
    assert files["vendor/d.js"].plain == code
    assert files["styles/first.css"].plain == b"\na {}\nb {}\n"


def test_no_text_looks_like_a_line_of_comment() -> None:
    """A template of ours, over several lines, has no line that would be taken for a comment."""
    for name, file in FILES.items():
        if name.endswith(".js") and not name.startswith("vendor/"):
            text = Assets({**TINY, name: file.read_bytes()}).files[name].plain.decode()
            assert text.count("`") == re.sub(r"(?m)^\s*(//|\*|/\*).*$", "", file.read_text()).count("`"), name


def test_who_has_it_already_is_not_sent_it(web: TestClient, tiny: Assets) -> None:
    """A file is known by its tag, and only a word goes over the line; HEAD sends none of it either."""
    tag = web.get(f"{tiny.root}/b.js").headers["etag"]
    again = web.get(f"{tiny.root}/b.js", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    head = web.head(f"{tiny.root}/b.js")
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", tag)


@pytest.mark.parametrize(
    "name",
    [
        "", "gone.js", "../assets.py", "..%2fassets.py", "%2e%2e/assets.py", "ui", "ui/", "/etc/passwd", "//app.js",
        "app.js/", "APP.js", "app.js%00", "ui\\a.js", "./app.js%20", "secret.py", "styles/FIRST",
    ],
)  # fmt: skip
def test_there_is_nothing_but_the_files(web: TestClient, tiny: Assets, name: str) -> None:
    """A name that is not exactly a file's is not there; nothing is looked for on the disk."""
    assert web.get(f"{tiny.root}/{name}").status_code == 404


def test_files_of_another_version_are_not_there(web: TestClient, tiny: Assets) -> None:
    """The digest in an address is of all files, their names too: a page of an old version gets none of the new."""
    changed = Assets({**TINY, "b.js": b""})
    renamed = Assets({name.replace("b.js", "d.js"): content for name, content in TINY.items()})
    assert len({tiny.digest, changed.digest, renamed.digest}) == 3
    assert web.get(f"{changed.root}/app.js").status_code == 404


def test_the_scripts_of_a_view_are_known_beforehand(tiny: Assets) -> None:
    """A page names all that its scripts will ask for, each once, but not what may never be needed."""
    assert tiny.modules("board") == [
        "app.js",
        "views/board.js",
        "ui/a.js",
        "b.js",
        "views/board/d.js",
        "e.js",
    ]


def test_styles_go_over_the_line_as_two(web: TestClient, tiny: Assets) -> None:
    """They are put together in the order that their lists say: those of the first views, and the others."""
    assert web.get(f"{tiny.root}/styles/first.css").content == b"\na {}\nb {}\n"
    assert web.get(f"{tiny.root}/styles/later.css").content == TINY["styles/three.css"]
    assert tiny.styles("board") == ["styles/first.css"]
    assert tiny.styles("fleet") == ["styles/first.css", "styles/later.css"]


def test_every_style_is_in_a_list() -> None:
    """A style that no list names would never be seen; those of the login and the documents are no part of them."""
    listed = [name for each in STYLES.values() for name in (FOLDER / each).read_text("utf-8").split()]
    assert len(listed) == len(set(listed))
    assert {*listed, "login.css", "documents.css"} == {
        file.name for file in (FOLDER / "styles").glob("*.css")
    }


def test_the_dashboard_is_small() -> None:
    """The first screen and the board take less than 100 kB of scripts and styles over the line; others add to that."""
    ours = Assets.of()
    views = {name: sizes(ours, name) for name in ("needs", *VIEWS)}
    for name in ("needs", "board"):
        assert sum(views[name].values()) < SMALL, (name, views[name])
    for name, view in views.items():
        assert sum(view.values()) < SMALL + MORE, (name, view)
        assert "vendor/dagre.js" not in view


def sizes(assets: Assets, view: str) -> dict[str, int]:
    """Return the bytes of each script and style that are transferred before a view is shown."""
    names = [*assets.modules(view), *assets.styles(view)]
    return {name: len(assets.files[name].packed or assets.files[name].plain) for name in names}


def test_what_is_of_others_is_what_was_taken_over() -> None:
    """The files that were built from packages are those of the list of checksums, all of them."""
    lines = (line.split(maxsplit=1) for line in FILES["vendor/SHA256SUMS"].read_text("utf-8").splitlines())
    listed = {name: checksum for checksum, name in lines}
    there = {name for name in FILES if name.startswith(("vendor/", "fonts/"))} - {"vendor/SHA256SUMS"}
    assert set(listed) == there
    for name, checksum in listed.items():
        assert hashlib.sha256(FILES[name].read_bytes()).hexdigest() == checksum, name


def test_no_file_names_another_host() -> None:
    """Nothing is loaded from elsewhere: no address of another host is in any file, but the names of formats."""
    for name, file in FILES.items():
        if file.suffix not in BINARY and name != "vendor/LICENSES.txt":
            text = NAMESPACES.sub("", file.read_text("utf-8"))
            assert not [each for each in ADDRESS.findall(text) if not EXAMPLE.match(each)], name


def test_the_package_brings_them() -> None:
    """Templates and files lie in the package, so that an installed hub has them."""
    package = Path(hubbub.serve.__file__ or "").parents[1]
    assert FOLDER.is_relative_to(package)
    assert (package / "serve" / "dashboard" / "templates" / "index.html").is_file()
