"""The house rules of the dashboard's own scripts and words, read as text: no browser is needed."""

import json
import re
from collections import Counter
from pathlib import Path

from hubbub.model.lifecycle import Status
from hubbub.model.log.attention import TaskState, state_of_task

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src/hubbub/serve/dashboard/static"
TEMPLATES = STATIC.parent / "templates"
SCRIPTS = {
    path.relative_to(STATIC).as_posix(): path
    for path in sorted(STATIC.rglob("*.js"))
    if "vendor" not in path.parts
}
STYLES = sorted((STATIC / "styles").glob("*.css"))
LOG_WORDS = "views/task/history.js"  # says the log's words for statuses as people see them
LONGEST_MODULE, LONGEST_FUNCTION, LONGEST_LINE = 600, 40, 120

BEGINS = re.compile(r"(?:export )?(?:async )?function\*? (\w+)")
FETCHED = re.compile(r"^(?!\s*/?\*).*(?<!\{)\bimport\(", re.MULTILINE)  # in no comment
IMPORT = re.compile(r"""import\s*(?:\{([^}]*)\}\s*from\s*)?["']([^"']+)["']""")
EXPORT = re.compile(r"^export (?:async )?(?:function\*?|const|let|class) (\w+)", re.MULTILINE)
EXPORTED_MAPS = re.compile(r"^export const \{([^}]*)\}", re.MULTILINE)
EXPORT_LIST = re.compile(r"export ?\{([^}]*)\}")
PARSES = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|setHTMLUnsafe|document\.write|srcdoc|DOMParser"
    r"|\beval\(|new Function\(|javascript:|createPolicy"
)
SAID = re.compile(r"""\bt\(\s*["']([a-z]+\.[\w.]+)["'](?! ?~)""")  # and no beginning of a key that is made
MADE = re.compile(r"""`([a-z]+\.\w*)\$\{|["']([a-z]+\.\w*)(?:\{|["'] ?~)""")
NAMED = re.compile(r"""["'`]([a-z]+\.\w+)["'`]""")
WORD = re.compile(r"[\w-]+")
SELECTOR = re.compile(r"([^{}]*)\{")
VALUE = re.compile(r"\{(\w+)\}")


def words(language: str) -> dict[str, str]:
    """All words of a language, by `section.key`."""
    sections: dict[str, dict[str, str]] = json.loads((STATIC / "words" / f"{language}.json").read_text())
    return {f"{section}.{key}": text for section, keys in sections.items() for key, text in keys.items()}


ENGLISH, CHINESE = words("en"), words("zh-CN")
COUNTED = {key.removesuffix("_one") for key in ENGLISH if key.endswith("_one")}


def said_as(key: str) -> str:
    """The key that scripts say: without the form that a count asks for."""
    base = key.rpartition("_")[0]
    return base if base in COUNTED else key


TEXTS = {name: path.read_text() for name, path in SCRIPTS.items()}
PAGES = [path.read_text() for path in (*TEMPLATES.glob("*.html"), *STATIC.parent.glob("*.py"))]


def test_a_script_is_small() -> None:
    """A module has at most 600 lines of 120 characters, and a function 40 below its first."""
    modules = {name: text.splitlines() for name, text in TEXTS.items()}
    too_long = {
        f"{name}: {title}": length
        for name, lines in modules.items()
        for title, length in functions(lines)
        if length > LONGEST_FUNCTION
    }

    assert [name for name, lines in modules.items() if len(lines) > LONGEST_MODULE] == []
    assert [name for name, lines in modules.items() if max(map(len, lines)) > LONGEST_LINE] == []
    assert too_long == {}


def functions(lines: list[str]) -> list[tuple[str, int]]:
    """The functions of a module, and how many lines each has below its first."""
    found = []
    for first, line in enumerate(lines):
        if begins := BEGINS.match(line):
            last = first if line.endswith("}") else lines.index("}", first)
            found.append((begins[1], last - first - 1))
    return found


def test_a_script_says_what_it_is() -> None:
    """A module begins with a comment that says what it is and why."""
    assert [name for name, text in TEXTS.items() if not text.startswith(("//", "/*"))] == []


def test_html_is_parsed_in_one_place() -> None:
    """Only the one Trusted Types policy makes a page out of text, and no script makes a program of it."""
    assert {name for name, text in TEXTS.items() if PARSES.search(text)} <= {"ui/markdown.js"}


def test_what_is_imported_is_there() -> None:
    """Every import names a module of ours, and what that exports."""
    for name, names, source in (
        (name, *found) for name, text in TEXTS.items() for found in IMPORT.findall(text)
    ):
        target = (SCRIPTS[name].parent / source).resolve()
        assert target.is_file(), (name, source)
        wanted = {each.split(" as ")[0].strip() for each in names.split(",") if each.strip()}
        assert wanted - exports(target.read_text()) == set(), (name, source)


def test_what_is_exported_is_used() -> None:
    """Every export is named by another module, a test or a benchmark; the shell finds the view of a module."""
    tried = "".join(path.read_text() for path in Path(__file__).parent.rglob("*.py"))
    measured = (ROOT / "bench" / "probes.py").read_text()
    named_in = Counter(word for text in (*TEXTS.values(), measured) for word in set(WORD.findall(text)))
    for name, text in TEXTS.items():
        only_here = {each for each in exports(text) if named_in[each] == 1}
        assert {each for each in only_here - {"View"} if f"m.{each}" not in tried} == set(), name


def test_views_know_no_paths_of_rest() -> None:
    """Views read and do only what is in the two tables of `hub`, and use all of both."""
    for name, text in TEXTS.items():
        if name.startswith(("views/", "shell/", "ui/")):
            taken = {
                each for names, source in IMPORT.findall(text) if "hub/api.js" in source for each in [names]
            }
            assert {each.strip() for each in taken} <= {"Refused", "fetchWithRetry"}, name
            assert "/api/v1" not in text, name
    reading, acting = TEXTS["hub/endpoints.js"].split("// The table of actions.")
    reads = set(re.findall(r"^  (\w+): \(", reading, re.MULTILINE))
    actions = set(re.findall(r"^  (\w+): (?:\{|onTask)", acting, re.MULTILINE))
    everything = "".join(TEXTS.values())
    assert {each for each in reads if not re.search(rf"\b(?:read|link)\.{each}\(", everything)} == set()
    assert {each for each in actions if f'"{each}"' not in everything} == set()


def test_every_style_is_used() -> None:
    """Every class that a style is for is given by a script or a page, and every token is defined and used."""
    styles = "".join(re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL) for path in STYLES)
    texts = "".join((*TEXTS.values(), *PAGES))
    made = tuple(re.findall(r"([\w-]+-)(?:\$\{|\{\{)", texts))
    styled = {
        each for selector in SELECTOR.findall(styles) for each in re.findall(r"\.([a-z][\w-]*)", selector)
    }
    assert {each for each in styled - set(WORD.findall(texts)) if not each.startswith(made)} == set()
    defined = set(re.findall(r"(--[\w-]+)\s*:", styles + texts)) | set(re.findall(r'"(--[\w-]+)"', texts))
    assert set(re.findall(r"var\((--[\w-]+)", styles)) <= defined
    assert {each for each in defined if f"var({each}" not in styles} == set()


def test_the_sprite_has_the_icons_that_are_used() -> None:
    """Every icon of the list is in the sprite and named by a script, and none is missing where one is named."""
    listed = (STATIC.parents[4] / "vendoring/icons.txt").read_text().split()
    drawn = re.findall(r'<symbol id="([\w-]+)"', (STATIC / "vendor/icons.svg").read_text())
    texts = "".join(TEXTS.values())
    assert drawn == listed
    assert {each for each in listed if f'"{each}"' not in texts} == set()
    assert set(re.findall(r'(?:<\$\{Icon\} name|\bicon)=?:? ?"([\w-]+)"', texts)) <= set(drawn)


def test_the_types_of_others_are_of_what_is_taken_over() -> None:
    """The libraries whose declarations the types are checked against have the versions that the page's files are of."""
    root = Path(__file__).parents[2]
    built, checked = (
        json.loads((root / folder / "package.json").read_text())["dependencies"]
        for folder in ("vendoring", "tests/types")
    )
    assert checked.keys() - {"typescript"} <= built.keys()
    assert {name: built[name] for name in checked if name in built}.items() <= checked.items()
    for name in ("ui", "dagre"):
        told = exports((STATIC / f"vendor/{name}.d.ts").read_text())
        assert told <= exports((STATIC / f"vendor/{name}.js").read_text()) | {"ReadonlySignal", "Signal"}


def exports(text: str) -> set[str]:
    maps = [each.strip() for names in EXPORTED_MAPS.findall(text) for each in names.split(",")]
    listed = [
        each.split(" as ")[-1].strip() for names in EXPORT_LIST.findall(text) for each in names.split(",")
    ]
    return {*EXPORT.findall(text), *maps, *listed}


def test_what_is_said_has_words() -> None:
    """Every key that a script or a page says is there in English."""
    known = {said_as(key) for key in ENGLISH} | set(ENGLISH)
    said = {key for text in (*TEXTS.values(), *PAGES) for key in SAID.findall(text)}
    assert said - known == set()


def test_no_words_are_left_over() -> None:
    """Every key is said somewhere, by name or by the beginning of a name that is made."""
    everything = (*TEXTS.values(), *PAGES)
    named = {key for text in everything for key in NAMED.findall(text)}
    made = tuple({"".join(either) for text in everything for either in MADE.findall(text)})
    assert {key for key in ENGLISH if not {key, said_as(key)} & named and not key.startswith(made)} == set()


def test_both_languages_say_the_same_things() -> None:
    """Every text in English has one in Chinese, about the same values; numbers have no forms there."""
    assert {said_as(key) for key in ENGLISH} == {said_as(key) for key in CHINESE}
    assert {key for key, text in {**ENGLISH, **CHINESE}.items() if not text.strip()} == set()
    for key, text in CHINESE.items():
        others = {other: said for other, said in ENGLISH.items() if said_as(other) == said_as(key)}
        known = set().union(*(VALUE.findall(said) for said in others.values()))
        needed = set(VALUE.findall(others.get(key, "")))
        assert needed <= set(VALUE.findall(text)) <= known, key


def test_counts_have_the_forms_that_languages_need() -> None:
    """A counted noun has a form for one and for others in English, for others in Chinese."""
    for key in COUNTED:
        assert {f"{key}_one", f"{key}_other"} <= set(ENGLISH)
        assert f"{key}_other" in CHINESE
        assert f"{key}_one" not in CHINESE


def test_what_is_fetched_late_comes_in_one_way() -> None:
    """Only one module fetches others when these are asked for, so that it is said where one does not come."""
    asking = {name for name, text in TEXTS.items() if FETCHED.search(text)}
    assert asking == {"shell/lazy.js"}


def test_the_page_has_no_rule_of_the_lifecycle() -> None:
    """Which status follows which, and when something is late, is the hub's word: no script says it again."""
    statuses = "|".join(status for status in Status if status not in set(map(str, TaskState)))
    rules = {
        "compares with a status": rf"""\bstatus\b\s*[!=]==\s*["']({statuses})["']""",
        "sets a status": rf"""\bstatus:\s*["']({"|".join(Status)})["']""",
        "lists statuses": rf"""["']({statuses})["']\s*,\s*["']({"|".join(Status)})["']""",
    }
    said = {
        f"{name} {wrong}: {found[0]}"
        for name, text in TEXTS.items()
        for wrong, rule in rules.items()
        for found in re.finditer(rule, text)
        if name != LOG_WORDS
    }
    assert said == set()

    (renamed,) = re.findall(r"const WORDS = \{(.+?)\};", TEXTS[LOG_WORDS])
    words = dict(re.findall(r"(\w+): \"(\w+)\"", renamed))
    assert {status: words.get(status, status.value) for status in Status} == {
        status: state_of_task(status).value for status in Status
    }
