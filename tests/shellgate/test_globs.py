from shellgate import globs
from tests.support.each_row import each_row


@each_row(
    ("pattern", "fitting", "others"),
    [
        ("*", ["a", "a.b"], [".a"]),
        (".*", [".a"], ["a"]),
        ("*.py", ["a.py", "a.b.py"], [".a.py", "a.pyc"]),
        ("a*b*c", ["abc", "axxbyyc", "abcbc"], ["ac", "abcd"]),
        ("?x", ["ax"], ["x", "axx", ".x"]),
        ("[ab]*", ["a", "bx"], ["c"]),
        ("[!ab]", ["c"], ["a", "cc"]),
        ("[^ab]", ["c"], ["a"]),
        ("[a-c]x", ["bx"], ["dx"]),
        ("[[:digit:]]*", ["1a"], ["a1"]),
        ("[]x]", ["]", "x"], ["a"]),
        ("[a-]", ["-", "a"], ["b"]),
        ("[", ["["], ["a"]),
        (r"\*", ["*"], ["a"]),
        ("a.b", ["a.b"], ["axb"]),
        ("@(a|b).py", ["a.py", "c.py"], ["a.md"]),
    ],
)
def test_a_pattern_of_a_name_is_a_shells(pattern: str, fitting: list[str], others: list[str]) -> None:
    """A pattern beyond the reader fits too much rather than too little."""
    fits = globs.component(pattern)

    assert all(fits(name) for name in fitting)
    assert not any(fits(name) for name in others)


def test_a_wide_pattern_fits_hidden_names_as_well() -> None:
    """For where it matters what a pattern might stand for."""
    assert globs.component("*", is_wide=True)(".ssh")


def test_no_pattern_is_slow() -> None:
    """However many stars it has: what would take an hour if every way were tried is done at once."""
    assert not globs.component("*a" * 100 + "b")("a" * 5000)


@each_row(
    ("pattern", "split"),
    [
        ("*.py", ("", "*.py")),
        ("a.py", ("", "a.py")),
        ("src/*.py", ("src", "*.py")),
        ("src/a/**/x.py", ("src/a", "**/x.py")),
        ("/etc/*", ("/etc", "*")),
        ("/*", ("/", "*")),
        ("../x/*", ("../x", "*")),
        ("{a,b}/c", ("", "{a,b}/c")),
    ],
)
def test_a_pattern_is_split_where_it_begins_to_be_one(pattern: str, split: tuple[str, str]) -> None:
    """The folder that it is about, and what is to fit in it."""
    assert globs.split(pattern) == split


@each_row(
    ("pattern", "spelled_out"),
    [
        ("a", ["a"]),
        ("{a,b}", ["a", "b"]),
        ("x{a,b}y{c,d}", ["xayc", "xayd", "xbyc", "xbyd"]),
        ("{a,{b,c}}", ["a", "b", "c"]),
        ("{a,a}", ["a"]),
        ("{a,}b", ["ab", "b"]),
        ("{a}", ["{a}"]),
        ("{a,b", ["{a,b"]),
        ("a}b,{", ["a}b,{"]),
    ],
)
def test_braces_are_choices(pattern: str, spelled_out: list[str]) -> None:
    """Where there is a comma in them; else they are themselves."""
    assert sorted(globs.braces(pattern)) == spelled_out


def test_braces_are_spelled_out_within_reason() -> None:
    """Many choices of many are not all made."""
    assert len(globs.braces("{a,b,c,d}" * 20)) <= 2 * globs.CHOICES
