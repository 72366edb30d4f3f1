"""The syntax of rules, and their matches: few where they allow, many where they forbid."""

import hypothesis
import pytest
from hypothesis import strategies

from shellgate.analysis import CallPart
from shellgate.matching import Base, Match, covers, touches
from shellgate.rules import TOOLS, InvalidRule, parse
from tests.support.each_row import each_row

BASE = Base(home="/Home/ada", roots=("/Home/ada/proj",))


def command(*words: str | None) -> CallPart:
    """A simple command."""
    shown = " ".join(word or "…" for word in words)
    return CallPart(tool="execute_command", target=shown, words=words)


def file(tool: str, path: str, led: str | None = None) -> CallPart:
    """A call about a file; `led` is where links lead."""
    return CallPart(tool=tool, target=path, paths=(path, led or path))


def download(host: str, dest: str = "/Home/ada/proj/x") -> CallPart:
    return CallPart(tool="download_file", target=dest, paths=(dest, dest), host=host)


def is_covered(rule: str, part: CallPart) -> bool:
    return covers(parse(rule), part, BASE)


def is_touched(rule: str, part: CallPart) -> bool:
    return touches(parse(rule), part, BASE) is Match.YES


@pytest.mark.parametrize("rule", ["execute_command(git push *)", "Bash(git push *)", "Bash(git push:*)"])
def test_both_spellings_say_the_same(rule: str) -> None:
    """A command's pattern is of its first words and any others, in our spelling and in Claude Code's."""
    assert is_covered(rule, command("git", "push", "origin"))
    assert is_covered(rule, command("git", "push"))
    assert not is_covered(rule, command("git", "pushx"))
    assert not is_covered(rule, command("git", "status"))


@each_row(
    ("rule", "words", "covered"),
    [
        ("Bash(npm run build)", ("npm", "run", "build"), True),
        ("Bash(npm run build)", ("npm", "run", "build", "--x"), False),
        ("Bash(npm run test*)", ("npm", "run", "test:unit"), True),
        ("Bash(npm run test*)", ("npm", "run", "test", "--watch"), True),
        ("Bash(npm run test:*)", ("npm", "run", "test:unit"), False),
        ("Bash(git * main)", ("git", "push", "origin", "main"), True),
        ("Bash(git * main)", ("git", "push", "origin", "dev"), False),
        ("Bash(* --version)", ("node", "--version"), True),
        ("Bash(ls:*)", ("lsof",), False),
        ("Bash([ -f *)", ("[", "-f", "x", "]"), True),
        ("Bash", ("anything", "at", "all"), True),
        ("Bash(*)", ("anything",), True),
        ("execute_command(git *)", ("/opt/git", "status"), False),
        ("execute_command(git *)", ("GIT", "status"), False),
        ("execute_command(git log *)", ("git", "-C", "elsewhere", "log"), False),
        ("execute_command(rm -rf *)", ("rm", "-fr", "x"), False),
        ("execute_command(echo *)", ("echo", "a b; rm -rf x"), True),
        ("execute_command(echo a b)", ("echo", "a b"), False),
    ],
)
def test_an_allow_rule_means_what_it_says(rule: str, words: tuple[str, ...], covered: bool) -> None:
    """An allow rule covers a command by its words, each of them whole, from the first on, and no other program."""
    assert is_covered(rule, command(*words)) is covered


def test_what_only_running_tells_is_covered_by_a_star_alone() -> None:
    """A word that is not known fits `*`, and nothing else that an allow rule may say."""
    assert is_covered("Bash(echo *)", command("echo", None))
    assert is_covered("Bash(cp * dest)", command("cp", None, "dest"))
    assert not is_covered("Bash(git push*)", command("git", None))
    assert not is_covered("Bash(git status)", command("git", None))
    assert not is_covered("Bash(* status)", command(None, "x"))


def test_what_is_not_what_it_looks_like_is_never_covered() -> None:
    """A command with a name, a redirect or an environment that makes it another is covered by no rule."""
    part = CallPart(tool="execute_command", target="git log", words=("git", "log"), may_be_allowed=False)
    assert not is_covered("Bash", part)
    assert not is_covered("Bash(git log)", part)
    assert is_touched("Bash(git log)", part)


@each_row(
    ("rule", "words"),
    [
        ("Bash(git push *)", ("git", "push", "origin")),
        ("Bash(git push *)", ("/usr/bin/git", "push")),
        ("Bash(git push *)", ("GIT", "push")),
        ("Bash(git push *)", ("git", "-C", "elsewhere", "push", "origin")),
        ("Bash(git push *)", ("git", "--no-pager", "-c", "a=b", "push")),
        ("Bash(git push --force *)", ("git", "push", "origin", "main", "--force")),
        ("Bash(git push --force *)", ("git", "push", "--force-with-lease=x", "--forc", "origin")),
        ("Bash(rm -rf *)", ("rm", "-fr", "x")),
        ("Bash(rm -rf *)", ("rm", "-r", "-v", "-f", "x")),
        ("Bash(curl *)", ("curl",)),
        ("Bash(rm)", ("rm", "-v")),
    ],
)
def test_a_deny_rule_means_all_that_it_can_mean(rule: str, words: tuple[str, ...]) -> None:
    """A deny rule finds its program by any path, and its options in any order, joined, cut short or among others."""
    assert is_touched(rule, command(*words))


@each_row(
    ("rule", "words"),
    [
        ("Bash(git push *)", ("git", "log", "push")),
        ("Bash(git push *)", ("echo", "git", "push")),
        ("Bash(rm -rf *)", ("rm", "-r", "x")),
        ("Bash(git push --force *)", ("git", "push", "origin")),
        ("Bash(npm run build)", ("npm", "run", "build:docs")),
        ("Bash(rm)", ("rm", "x")),
    ],
)
def test_a_deny_rule_leaves_others_alone(rule: str, words: tuple[str, ...]) -> None:
    """A command that differs in a word that is no option is another command."""
    assert not is_touched(rule, command(*words))


@each_row(
    "words", [("git", None), ("git", None, "x"), (None, "push", "x"), ("git", "-C", None), ("git", "pu*")]
)
def test_what_may_be_forbidden_is_told_apart(words: tuple[str | None, ...]) -> None:
    """Where a word that is not known may make it the forbidden command, that is perhaps so."""
    assert touches(parse("Bash(git push *)"), command(*words), BASE) is Match.PERHAPS


@pytest.mark.parametrize("words", [("git", "log", None), ("ls", None)])
def test_an_unknown_word_does_not_make_all_of_it_unknown(words: tuple[str | None, ...]) -> None:
    """Where the words that are known tell it apart, it is told apart."""
    assert touches(parse("Bash(git push --force)"), command(*words), BASE) is Match.NO


@each_row(
    ("rule", "path", "covered"),
    [
        ("read_file(src/**)", "/Home/ada/proj/src/a/b.py", True),
        ("read_file(src/**)", "/Home/ada/proj/lib/src/b.py", False),
        ("read_file(src/)", "/Home/ada/proj/src/b.py", True),
        ("read_file(src)", "/Home/ada/proj/src/b.py", False),
        ("read_file(*.md)", "/Home/ada/proj/docs/deep/a.md", True),
        ("read_file(*.md)", "/Home/ada/a.md", False),
        ("read_file(docs/*.md)", "/Home/ada/proj/docs/deep/a.md", False),
        ("Read(./x)", "/Home/ada/proj/x", True),
        ("Read(./x)", "/Home/ada/proj/deep/x", False),
        ("Read(/x)", "/Home/ada/proj/x", True),
        ("Read(/x)", "/x", False),
        ("read_file(/srv/**)", "/srv/data", True),
        ("read_file(/srv/**)", "/Home/ada/proj/srv/data", False),
        ("Read(//srv/**)", "/srv/data", True),
        ("Read(~/notes/**)", "/Home/ada/notes/a", True),
        ("read_file(~/notes/**)", "/Home/eve/notes/a", False),
        ("read_file(src/**)", "/Home/ada/proj/SRC/a", False),
        ("read_file(a?c)", "/Home/ada/proj/abc", True),
        ("read_file([ab].txt)", "/Home/ada/proj/b.txt", True),
        ("read_file", "/anywhere", True),
        ("Read(**)", "/Home/ada/proj/deep/a", True),
        ("Read(**)", "/anywhere", False),
        ("read_file(*)", "/anywhere", False),
        ("read_file(/**)", "/anywhere", True),
    ],
)
def test_patterns_of_paths(rule: str, path: str, covered: bool) -> None:
    """A path's pattern is like one of a `.gitignore` in the root; where `/` is, the spelling says."""
    assert is_covered(rule, file("read_file", path)) is covered


def test_where_a_link_leads_is_what_is_allowed() -> None:
    """A link in an allowed folder to somewhere else is as little allowed as that."""
    linked = file("read_file", "/Home/ada/proj/src/link", "/Home/ada/private")
    assert not is_covered("read_file(src/**)", linked)
    assert is_touched("read_file(src/**)", linked)
    assert is_touched("Read(~/private)", linked)


@each_row(
    ("rule", "path"),
    [
        ("Read(secret)", "/Home/ada/proj/secret/deep/a"),
        ("Read(secret)", "/elsewhere/secret"),
        ("Read(**)", "/elsewhere/secret"),
        ("Read(*)", "/elsewhere/secret"),
        ("Read(./Secret/**)", "/Home/ada/proj/SECRET/a"),
        ("Read(/etc2)", "/etc2/a"),
        ("Read(/x)", "/Home/ada/proj/x"),
        ("read_file(/x)", "/Home/ada/proj/x"),
        ("Read(caf\u00e9)", "/Home/ada/proj/cafe\u0301"),
    ],
)
def test_a_forbidden_path_is_forbidden_in_every_way_to_write_it(rule: str, path: str) -> None:
    """A deny rule forbids all that is below, whatever the capitals, from every place that it may begin at."""
    assert is_touched(rule, file("read_file", path))


def test_foreign_names_stand_for_several_tools() -> None:
    """`Read` is all that reads, `Edit` and `Write` are what writes; where they forbid, also what comes close."""
    for tool in ("read_file", "list_dir", "grep", "glob"):
        assert is_covered("Read(src/**)", file(tool, "/Home/ada/proj/src/a"))
    assert not is_covered("Read(src/**)", file("open_file", "/Home/ada/proj/src/a"))
    assert is_touched("Read(src/**)", file("open_file", "/Home/ada/proj/src/a"))
    for rule in ("Edit(src/**)", "Write(src/**)"):
        assert is_covered(rule, file("write_file", "/Home/ada/proj/src/a"))
        assert not is_covered(rule, download("x.org", "/Home/ada/proj/src/a"))
        assert is_touched(rule, download("x.org", "/Home/ada/proj/src/a"))
        assert not is_touched(rule, file("read_file", "/Home/ada/proj/src/a"))


def test_downloads_are_ruled_by_place_or_by_host() -> None:
    """`download_file` looks at where it is saved; a domain at where it comes from, and that it is saved in a root."""
    assert is_covered("download_file(build/*)", download("x.org", "/Home/ada/proj/build/a"))
    assert not is_covered("download_file(build/*)", download("x.org"))
    for rule in ("WebFetch(domain:x.org)", "download_file(domain:x.org)"):
        assert is_covered(rule, download("X.org."))
        assert not is_covered(rule, download("sub.x.org"))
        assert not is_covered(rule, download("x.org", "/Home/ada/elsewhere"))
        assert is_touched(rule, download("sub.x.org"))
        assert not is_touched(rule, download("ax.org"))
    assert is_covered("WebFetch(domain:*.x.org)", download("sub.x.org"))


def test_other_tools_are_ruled_by_their_text() -> None:
    """A rule for `connect` matches the operation with the machine, or the machine alone."""
    part = CallPart(tool="connect", target="exec:prod-1")
    assert is_covered("connect(exec:prod-*)", part)
    assert is_covered("connect(prod-1)", part)
    assert not is_covered("connect(share:*)", part)
    assert is_touched("connect(PROD-*)", part)
    assert is_touched("connect", part)
    assert is_covered("ask_agent(dev-*)", CallPart(tool="ask_agent", target="dev-2"))


@each_row(
    ("rule", "why"),
    [
        ("", "must be a tool"),
        ("git push", "must be a tool"),
        ("Bash(git push", "must be a tool"),
        ("Bash()", "empty pattern"),
        ("Nothing(x)", "not about a known tool"),
        ("WebFetch(https://x.org)", "must name a domain"),
        ("WebFetch(domain:)", "names no domain"),
        ("Bash(a\u202eb)", "invisible"),
        ("Bash(" + "x" * 2000 + ")", "at most"),
    ],
)
def test_what_is_no_rule_is_refused(rule: str, why: str) -> None:
    """A rule that could match nothing, or is about no tool, is refused with a sentence."""
    with pytest.raises(InvalidRule, match=why):
        parse(rule)


def test_every_tool_can_be_ruled() -> None:
    """There is a rule for each of the 27 tools, and for what people order of agents, and it covers every call of it."""
    assert len(TOOLS) == 27 + 3
    for tool in TOOLS:
        assert covers(parse(tool), CallPart(tool=tool, target="x"), BASE)


WORDS = strategies.lists(
    strategies.one_of(
        strategies.sampled_from(["git", "push", "-f", "--force", "-C", "x", "a*", "/bin/git", "--a=b"]),
        strategies.text(alphabet="ab-*/.= ", min_size=1, max_size=4),
        strategies.none(),
    ),
    min_size=1,
    max_size=5,
)
PATTERNS = strategies.lists(
    strategies.sampled_from(["git", "push", "*", "-f", "--force", "x", "a*", "*b", "-a"]),
    min_size=1,
    max_size=4,
).map(" ".join)


@hypothesis.given(pattern=PATTERNS, words=WORDS)
def test_what_a_rule_allows_it_would_forbid(pattern: str, words: list[str | None]) -> None:
    """Whatever a pattern covers where it allows, it touches where it forbids: much is never less than little."""
    rule, part = parse(f"Bash({pattern})"), command(*words)
    assert not covers(rule, part, BASE) or touches(rule, part, BASE) is not Match.NO


@hypothesis.given(
    pattern=strategies.text(alphabet="ab*?/.~[]", min_size=1, max_size=8).filter(str.strip),
    path=strategies.text(alphabet="ab/.", max_size=8).map(lambda rest: f"{BASE.roots[0]}/{rest}"),
)
def test_a_path_that_is_allowed_would_be_forbidden(pattern: str, path: str) -> None:
    """The same of paths, whatever is written in either."""
    rule, part = parse(f"Read({pattern})"), file("read_file", path)
    assert not covers(rule, part, BASE) or touches(rule, part, BASE) is Match.YES


def test_no_pattern_takes_long() -> None:
    """However many stars a rule has, and however long a word is, it is compared in the time of their product."""
    rule = parse("Bash(" + "*a" * 300 + "b)")
    assert not covers(rule, command("a" * 100_000), BASE)
    deep = parse("Read(" + "**/a/" * 150 + "b)")
    assert not covers(deep, file("read_file", "/Home/ada/proj" + "/a" * 2_000), BASE)
