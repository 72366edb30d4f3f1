"""Many scripts as few: what is put together does what it did, each module once; what is not understood is refused."""

from collections.abc import Mapping

import pytest
from playwright.sync_api import Browser, Route

from hubbub.serve.dashboard.assets import FIRST, FOLDER, START
from hubbub.serve.dashboard.linking import NAME, Unlinkable, link, resolved

MODULES = {
    "vendor/ui.js": "const s=v=>({v});export{s as signal};",
    "app.js": (
        "// what comes first\n"
        'import { signal } from "./vendor/ui.js";\n'
        'import { shout, twice as doubled } from "./ui/words.js";\n'
        'import {\n  told,\n} from "./ui/told.js";\n'
        'import "./ui/effect.js";\n'
        "told.v.push(`${shout(`a // b`)} ${doubled(2)}`); // said twice\n"
        "if (told) {\n  told.v.length;\n}\n"
        "/** Later. */\n"
        "export const later = (name) => import(`./views/${name}.js`);\n"
    ),
    "ui/words.js": (
        'import { told } from "./told.js";\n'
        "const private_ = 1;\n"
        "export function shout(text) {\n  told.v.push('shouting');\n  return text + '!';\n}\n"
        "export const twice = (n) => n * 2 * private_;\n"
        "export const { one, other: second } = { one: 1, other: 2 };\n"
        "export async function* counted() { yield 1; }\n"
        "export class Word {}\n"
    ),
    "ui/told.js": 'import { signal } from "../vendor/ui.js";\nconst private_ = 2;\nexport const told = signal([]);\n',
    "ui/effect.js": (
        'import { told } from "./told.js";\n'
        'told.v.push(new URL("../x.svg", import.meta.url).pathname.split("/").at(-1));\n'
        'told.v.push(new URL("./y.svg", import.meta.url).pathname.split("/").slice(-2).join("/"));\n'
    ),
    "views/board.js": (
        'import { shout, second } from "../ui/words.js";\n'
        'import { told } from "../ui/told.js";\n'
        'import { helped } from "./help.js";\n'
        "export const said = () => { shout('x'); return [...told.v, second, helped]; };\n"
    ),
    "views/help.js": "export const helped = true;\n",
}
PROGRAM = """async () => {
  const { later } = await import("./app.js");
  const { told } = await import("./ui/told.js");
  const { said } = await later("board");
  const words = await import("./ui/words.js");
  return [said(), told.v.length, Object.keys(words).sort()];
}"""
HOST = "http://linking.example/"


def ran(browser: Browser, modules: Mapping[str, str]) -> tuple[object, set[str]]:
    """What the program shows with these modules, and which of them the browser has asked for."""
    asked: set[str] = set()

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(HOST)
        asked.add(name)
        route.fulfill(body=modules.get(name, ""), content_type="text/javascript" if name else "text/html")

    page = browser.new_page()
    page.route(f"{HOST}**", answer)
    page.goto(HOST)
    shown = page.evaluate(PROGRAM)
    page.close()
    return shown, asked - {""}


def test_what_is_put_together_does_what_it_did(browser: Browser) -> None:
    """In a browser the one file does what the modules did, in their order, and no module is there twice."""
    apart, _asked = ran(browser, MODULES)
    linked = link(MODULES, ["app.js"])
    together, asked = ran(browser, {**MODULES, **linked})

    said = ["x.svg", "ui/y.svg", "shouting", "a // b! 4", "shouting", 2, True]
    assert apart == [said, 5, ["Word", "counted", "one", "second", "shout", "twice"]]
    assert together == apart
    assert asked == {
        "app.js",
        NAME,
        "vendor/ui.js",
        "ui/told.js",
        "ui/words.js",
        "views/board.js",
        "views/help.js",
    }


def test_what_only_one_leads_to_comes_with_it(browser: Browser) -> None:
    """A script that is asked for later brings what only it needs, and does what it did; the rest stays apart."""
    shared = {**MODULES, "views/fleet.js": 'import { far } from "./shared.js";\n'}
    shared["views/shared.js"] = "export const far = 1;\n"
    shared["views/board.js"] += 'import { far } from "./shared.js";\nexport const near = far;\n'
    apart, _asked = ran(browser, shared)
    linked = link(shared, ["app.js"], ["views/board.js", "views/fleet.js"])
    together, asked = ran(browser, {**shared, **linked})

    assert together == apart
    assert {name for name in asked if name.startswith("views/")} == {"views/board.js", "views/shared.js"}
    assert linked["views/help.js"].startswith("import { $")


def test_what_only_readers_need_does_not_go_over_the_line() -> None:
    """What explains a module stays in `static`, and so does what stands before a line; the rest of it is untouched."""
    core = link(MODULES, ["app.js"])[NAME]
    assert "what comes first" not in core
    assert "Later" not in core
    assert "said twice" not in core
    assert "`a // b`" in core
    assert "\ntold.v.length;\n" in core


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('import { b } from "./b.js";\n', "in a circle"),
        ('import { c } from "./c.js";\n', "is not there"),
        ("export default 1;\n", "of a form that is not known"),
        ("export { b };\n", "of a form that is not known"),
        ("export let b = 1;\n", "of a form that is not known"),
        ('export * from "./d.js";\n', "of a form that is not known"),
        ('import * as d from "./d.js";\n', "of a form that is not known"),
        ('import d from "./d.js";\n', "of a form that is not known"),
    ],
)
def test_what_is_not_understood_is_refused(text: str, sentence: str) -> None:
    """A circle, a module that is not there and a form that is not known are named, rather than served broken."""
    with pytest.raises(Unlinkable, match=sentence):
        link({"app.js": text, "b.js": 'import { a } from "./app.js";\n', "d.js": ""}, ["app.js"])


def test_the_dashboards_own_scripts_are_understood() -> None:
    """All that the first screens need is one file."""
    modules = {file.relative_to(FOLDER).as_posix(): file.read_text("utf-8") for file in FOLDER.rglob("*.js")}
    core = link(modules, [START, *FIRST])[NAME]
    assert "export const $" in core


@pytest.mark.parametrize(
    ("name", "wanted", "found"),
    [
        ("app.js", "./a.js", "a.js"),
        ("ui/a.js", "../b.js", "b.js"),
        ("views/board/a.js", "../../ui/b.js", "ui/b.js"),
        ("ui/a.js", "./", "ui/"),
        ("a.js", "../../b.js", "b.js"),
    ],
)
def test_relative_addresses(name: str, wanted: str, found: str) -> None:
    """An address means what it means to a browser, and never leads out of the folder."""
    assert resolved(name, wanted) == found
