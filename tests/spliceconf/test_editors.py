"""Editing the configuration files of others: what is not ours stays as it is, to the byte."""

import doctest
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import spliceconf
from spliceconf import EDITORS, MISSING, Unreadable, find, newline

ENTRY = {"type": "http", "url": "http://127.0.0.1:8420/mcp", "headers": {"Authorization": "Bearer ${X}"}}
FLAT = {"url": "http://127.0.0.1:8420/mcp", "bearer_token_env_var": "HUBBUB_TOKEN"}

few = settings(max_examples=40)  # each costs a few milliseconds, and the whole suite has minutes

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8)
scalars = st.none() | st.booleans() | st.integers() | words
blanks = st.sampled_from(["", " ", "\n", "\t", "\r\n", "  \n\t "])
comments = blanks | st.sampled_from(["// c\n", '/* { " */', " /*,*/ \n", "//}\r\n"])


@st.composite
def written(draw: st.DrawFn, gaps: st.SearchStrategy[str], *, commas: bool, depth: int = 2) -> str:
    """A JSON value written in any way that its language allows."""

    def gap() -> str:
        return draw(gaps)

    kind = draw(st.sampled_from(["scalar", "object", "list"])) if depth else "scalar"
    if kind == "scalar":
        return json.dumps(draw(scalars), ensure_ascii=draw(st.booleans()))
    count = draw(st.integers(0, 3))
    inner = written(gaps, commas=commas, depth=depth - 1)
    if kind == "list":
        parts = [gap() + draw(inner) + gap() for _ in range(count)]
    else:
        keys = draw(st.lists(words | st.just("mcpServers"), min_size=count, max_size=count, unique=True))
        parts = [f"{gap()}{json.dumps(key)}{gap()}:{gap()}{draw(inner)}{gap()}" for key in keys]
    end = "," + gap() if count and commas and draw(st.booleans()) else ""
    opening, closing = ("{", "}") if kind == "object" else ("[", "]")
    return opening + (",".join(parts) + end or gap()) + closing


@st.composite
def documents(draw: st.DrawFn, gaps: st.SearchStrategy[str], *, commas: bool) -> str:
    """A configuration file: an object, with whatever may be around it."""
    members = draw(st.dictionaries(words, written(gaps, commas=commas), max_size=3))
    servers = draw(st.sampled_from([None, "{}", "{ }", "{\n}", '{"a": 1}', '{\n\t"a": {},\n\t"b": []\n}']))
    if servers is not None:
        members["mcpServers"] = servers
    else:
        members.pop("mcpServers", None)

    def gap() -> str:
        return draw(gaps)

    inside = ",".join(
        f"{gap()}{json.dumps(key)}{gap()}:{gap()}{text}{gap()}" for key, text in members.items()
    )
    bom = draw(st.sampled_from(["", "\ufeff"]))
    return bom + gap() + "{" + (inside or gap()) + "}" + gap()


def _round(language: str, text: str, keys: tuple[str, ...], value: Any) -> str:
    editor = EDITORS[language]
    new, trace = editor.put(text, keys, value)
    assert find(editor.load(new), keys) == value
    return editor.take(new, keys, trace)


@few
@given(documents(blanks, commas=False))
def test_taking_an_entry_out_of_json_leaves_the_bytes_that_were_there(text: str) -> None:
    """An entry put into a JSON file and taken out again leaves the bytes as they were."""
    assert _round("json", text, ("mcpServers", "hubbub"), ENTRY) == text


@few
@given(documents(comments, commas=True))
def test_taking_an_entry_out_of_json_with_comments_leaves_the_bytes_that_were_there(text: str) -> None:
    """Comments and trailing commas stay where they are."""
    assert _round("jsonc", text, ("mcpServers", "hubbub"), ENTRY) == text


@few
@given(documents(comments, commas=True))
def test_what_json_says_otherwise_stays_the_same(text: str) -> None:
    """Neighbours keep their values and their order."""
    editor = EDITORS["jsonc"]
    new, _ = editor.put(text, ("mcpServers", "hubbub"), ENTRY)
    before, after = editor.load(text), editor.load(new)
    servers = after["mcpServers"]

    assert [key for key in after if key != "mcpServers"] == [key for key in before if key != "mcpServers"]
    assert list(servers) == [*before.get("mcpServers", {}), "hubbub"]
    assert {**after, "mcpServers": None} == {**before, "mcpServers": None}


@pytest.mark.system
@few
@given(documents(comments, commas=True), st.integers(1, 3))
def test_appending_to_a_list_and_dropping_leaves_the_bytes_that_were_there(text: str, times: int) -> None:
    """Hooks are put behind those of others, and taken away again one by one."""
    editor, keys = EDITORS["jsonc"], ("hooks", "Stop")
    if find(editor.load(text), keys[:1]) is not MISSING:
        return
    now, traces = text, []
    for number in range(times):
        now, trace = editor.append(now, keys, {"command": f"hubbub-hook {number}"})
        traces.append(trace)
    assert [each["command"] for each in find(editor.load(now), keys)] == [
        f"hubbub-hook {n}" for n in range(times)
    ]
    for number, trace in reversed([*enumerate(traces)]):
        now = editor.drop(now, keys, number, trace)

    assert now == text


@pytest.mark.system
@few
@given(documents(comments, commas=True), documents(comments, commas=True))
def test_a_neighbour_that_came_later_stays_when_ours_goes(text: str, other: str) -> None:
    """Entries put behind ours stay, and read as before."""
    editor = EDITORS["jsonc"]
    value = editor.load(other)
    with_ours, trace = editor.put(text, ("mcpServers", "hubbub"), ENTRY)
    with_both, _ = editor.put(with_ours, ("mcpServers", "later"), value)
    left = editor.load(editor.take(with_both, ("mcpServers", "hubbub"), trace))

    assert left["mcpServers"]["later"] == value
    assert "hubbub" not in left["mcpServers"]


@pytest.mark.system
@few
@given(documents(comments, commas=True))
def test_replacing_and_restoring_leaves_the_bytes_that_were_there(text: str) -> None:
    """An entry of the same name that had to give way comes back as it was written."""
    editor, keys = EDITORS["jsonc"], ("mcpServers", "hubbub")
    before, _ = editor.put(text, keys, {"url": "http://other"})
    new, trace = editor.put(before, keys, ENTRY)

    assert find(editor.load(new), keys) == ENTRY
    assert editor.take(new, keys, trace) == before


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "nothing",
        '{"a": 1,, "b": 2}',
        "{'a': 1}",
        '{"a" 1}',
        '{"a": 1} {"b": 2}',
        '{"a": tru}',
        '{"a": "\n"}',
        "[" * 200,
        "[]",
        '"text"',
        '{"mcpServers": []}',
        '{"mcpServers": null}',
        '{"mcpServers": {}, "mcpServers": {}}',
    ],
)
def test_json_that_cannot_be_edited_safely_is_refused(text: str) -> None:
    """Where a place would have to be guessed, nothing is done."""
    with pytest.raises(Unreadable):
        EDITORS["jsonc"].put(text, ("mcpServers", "hubbub"), ENTRY)


@pytest.mark.parametrize("text", ['{"a": 1,}', '{"a": 1 /* one */}', "// top\n{}"])
def test_comments_are_refused_where_the_client_reads_none(text: str) -> None:
    """A file that the client itself cannot read is not made to look well."""
    with pytest.raises(Unreadable):
        EDITORS["json"].put(text, ("mcpServers", "hubbub"), ENTRY)


TOML_PARTS = [
    "# c\n",
    "\n",
    "[b]\nc = 1\n",
    '[mcp_servers.a]\nurl = "x" # y\n',
    '[mcp_servers.z.env]\nK = "v"\n',
    "[d]\ne = '''\n[mcp_servers.hubbub]\n'''\n",
    '[f]\ng = """\n[h]\n"""\n',
    "[[i]]\nj = 1\n[[i]]\nj = 2\n",
    "  [k] # spaced\n\tl = [\n 1, # one\n]\n",
]
toml_documents = st.builds(
    lambda bom, top, parts, crlf, cut: (
        (bom + top + "".join(parts)).replace("\n", crlf).rstrip("\r\n" if cut else "")
    ),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(["", 'model = "x"\n', "a.b = 1\n"]),
    st.lists(st.sampled_from(TOML_PARTS), unique=True),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)


@few
@given(toml_documents)
def test_taking_a_table_out_of_toml_leaves_the_bytes_that_were_there(text: str) -> None:
    """An entry put into a TOML file and taken out again leaves the bytes as they were."""
    assert _round("toml", text, ("mcp_servers", "hubbub"), FLAT) == text


@few
@given(toml_documents, st.sampled_from(TOML_PARTS[2:4]))
def test_a_table_of_ours_goes_from_between_others(text: str, later: str) -> None:
    """A table that came behind ours stays."""
    editor, keys = EDITORS["toml"], ("mcp_servers", "hubbub")
    new, trace = editor.put(text, keys, FLAT)
    more = (
        later.replace("[b]", "[later]")
        .replace(".a]", ".later]")
        .replace("\n", "\r\n" if "\r\n" in text else "\n")
    )

    assert editor.load(editor.take(new + more, keys, trace)) == editor.load(
        text + ("\n" if text else "") + more
    )


@few
@given(toml_documents)
def test_what_a_client_added_to_our_table_goes_with_it(text: str) -> None:
    """Tables below ours, where a client keeps what it was allowed, are ours too."""
    editor, keys = EDITORS["toml"], ("mcp_servers", "hubbub")
    new, trace = editor.put(text, keys, FLAT)
    end = "\r\n" if "\r\n" in text else "\n"

    assert editor.take(f"{new}{end}[mcp_servers.hubbub.tools.send]{end}ok = true{end}", keys, trace) == text


@few
@given(toml_documents)
def test_a_toml_table_is_replaced_and_comes_back(text: str) -> None:
    """A table of the same name that had to give way comes back as it was written."""
    editor, keys = EDITORS["toml"], ("mcp_servers", "hubbub")
    before, _ = editor.put(text, keys, {"url": "http://other"})
    new, trace = editor.put(before, keys, FLAT)

    assert find(editor.load(new), keys) == FLAT
    assert editor.take(new, keys, trace) == before


@few
@given(toml_documents, st.integers(1, 3))
def test_appending_tables_and_dropping_them_leaves_the_bytes_that_were_there(text: str, times: int) -> None:
    """Hooks are tables behind those of others, and are taken away again one by one."""
    editor, keys, now, traces = EDITORS["toml"], ("hooks", "Stop"), text, []
    for number in range(times):
        now, trace = editor.append(now, keys, {"hooks": [{"type": "command", "command": f"h {number}"}]})
        traces.append(trace)
    for number, trace in reversed([*enumerate(traces)]):
        now = editor.drop(now, keys, number, trace)

    assert now == text


@pytest.mark.parametrize(
    "text",
    [
        "a = ",
        "a = 1\na = 2\n",
        'mcp_servers = "none"\n',
        "[[mcp_servers]]\na = 1\n",
        "[mcp_servers]\nhubbub.url = 'x'\n",
    ],
)
def test_toml_that_cannot_be_edited_safely_is_refused(text: str) -> None:
    """Where our table would break or hide what is there, nothing is done."""
    with pytest.raises(Unreadable):
        EDITORS["toml"].put(text, ("mcp_servers", "hubbub"), FLAT)


YAML_PARTS = [
    "# c\n",
    "\n",
    "A: 1\n",
    "B: |-\n  extensions:\n    hub: 1\n",
    "C:\n  - x\n  - y: 1\n",
    "D: {extensions: {hub: 1}} # flow\n",
    "E: &e\n  f: 1\n",
]
EXTENSIONS = [
    "",
    "extensions:\n  a:\n    enabled: true\n",
    "extensions: # mine\n    # first\n    a: {b: 1}\n    # last\n",
    "extensions:\n  a:\n    x: |\n      text\n\n",
    "extensions: {} # none\n",
    "extensions:  \n# none\n",
    "extensions: ~\n",
]
yaml_documents = st.builds(
    lambda head, parts, ours, at, crlf, cut: (
        (head + "".join(parts[:at]) + ours + "".join(parts[at:]))
        .replace("\n", crlf)
        .rstrip("\r\n" if cut else "")
    ),
    st.sampled_from(["", "---\n", "# top\n---\n"]),
    st.lists(st.sampled_from(YAML_PARTS), unique=True),
    st.sampled_from(EXTENSIONS),
    st.integers(0, 5),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)


@few
@given(yaml_documents)
def test_taking_a_mapping_out_of_yaml_leaves_the_bytes_that_were_there(text: str) -> None:
    """An entry put into a YAML file and taken out again leaves the bytes as they were."""
    assert _round("yaml", text, ("extensions", "hub"), {**ENTRY, "env_keys": ["X"]}) == text


@few
@given(yaml_documents)
def test_what_yaml_says_otherwise_stays_the_same(text: str) -> None:
    """Neighbours keep what they say."""
    before = yaml.safe_load(text) or {}
    after = yaml.safe_load(EDITORS["yaml"].put(text, ("extensions", "hub"), ENTRY)[0])
    after["extensions"].pop("hub")

    assert after == {**before, "extensions": before.get("extensions") or {}}


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "- a\n",
        "text",
        "extensions: {a: {b: 1}}\n",
        "extensions: [a]\n",
        "extensions: none\n",
        "a: 1\n...\n",
        "a: 1\n---\nb: 2\n",
        "extensions: &x\n  a: 1\nextensions: *x\n",
    ],
)
def test_yaml_that_cannot_be_edited_safely_is_refused(text: str) -> None:
    """Forms in which a line of ours could mean something else are left alone."""
    with pytest.raises(Unreadable):
        EDITORS["yaml"].put(text, ("extensions", "hub"), ENTRY)


lines = st.lists(st.sampled_from(["A=1", "# c", "", "export B='x'", "not a line", "HUBBUB=no"]))


@few
@given(lines, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_taking_a_variable_out_leaves_the_bytes_that_were_there(
    texts: list[str], end: str, whole: bool
) -> None:
    """A variable put into a file and taken out again leaves no trace."""
    text = end.join(texts) + (end if whole and texts else "")
    assert _round("env", text, ("HUBBUB_TOKEN",), "ntok_1") == text


def test_a_variable_is_replaced_and_comes_back() -> None:
    """A variable of the same name that had to give way comes back as it was written."""
    text = "A=1\nexport HUBBUB_TOKEN='old' \nB=2\n"
    assert _round("env", text, ("HUBBUB_TOKEN",), "ntok_1") == text


@pytest.mark.parametrize(
    "ours", ["ours, // mine\n", "ours // mine\n", "// mine\nours", "// mine\n ours // too\n"]
)
@pytest.mark.parametrize(
    "around", ["{{{}}}", '{{"a": 1, {}}}', '{{\n  "a": 1,\n  {}\n}}\n', "{{\n  {}\n}}\n"]
)
def test_a_line_of_comment_swallows_nothing(around: str, ours: str) -> None:
    """The text behind our entry does not become part of the comment before it when ours goes."""
    editor, keys = EDITORS["jsonc"], ("hubbub",)
    before = around.format("").replace(", }", "}").replace(",\n  \n", "\n")
    _, trace = editor.put(before, keys, {"url": "x"})
    text = around.format(ours.replace("ours", '"hubbub": {"url": "x"}'))
    left = editor.take(text, keys, trace)

    assert "// mine" in left
    assert editor.load(left) == editor.load(before)


def test_a_table_that_was_replaced_comes_back_on_lines_of_its_own() -> None:
    """Where the old one was the end of the file, and had no line end, what was appended meanwhile does not join it."""
    editor, keys = EDITORS["toml"], ("mcp_servers", "hubbub")
    before = '[mcp_servers.hubbub]\nurl = "http://other"'
    text, trace = editor.put(before, keys, {"url": "http://ours"})

    assert editor.take(text + "[later]\nx = 1\n", keys, trace) == before + "\n[later]\nx = 1\n"


def test_a_file_with_line_ends_of_both_kinds_is_not_taken_for_changed() -> None:
    """One line of another kind says nothing about the others: what had to give way comes back as it was."""
    editor, keys = EDITORS["jsonc"], ("mcpServers", "hubbub")
    before = '{\r\n "a": 1,\n "mcpServers": {\n  "hubbub": {\n   "url": "other"\r\n  }\n }\n}\n'
    text, trace = editor.put(before, keys, {"url": "ours", "headers": {}})

    assert editor.take(text, keys, trace.in_lines_of(text, newline(before))) == before


def test_the_example_of_the_readme_is_true() -> None:
    """The Python of the package's README prints what it shows."""
    readme = Path(spliceconf.__file__).with_name("README.md")

    assert doctest.testfile(str(readme), module_relative=False) == doctest.TestResults(failed=0, attempted=6)
