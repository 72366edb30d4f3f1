from pathlib import Path

from shellgate.shell.program import Glob, Program, Text, Unknown
from shellgate.shell.read import read
from tests.shellgate.shell.shell_worlds import world
from tests.support.each_row import each_row


def read_here(text: str) -> Program:
    return read(text, world())


@each_row(
    ("text", "folders"),
    [
        ("cd / && x", ["/"]),
        ("cd /; x", ["/", "/ada/proj"]),
        ("cd && x", ["/ada"]),
        ("cd ~/a/../b && x", ["/ada/b"]),
        ("cd .. && x", ["/ada"]),
        ("cd a && cd b && x", ["/ada/proj/a/b"]),
        ("cd a && cd - && x", ["/ada/proj"]),
        ("(cd /); x", ["/ada/proj"]),
        ("cd / || exit; x", ["/"]),
        ("cd / || { echo no; exit 1; }; x", ["/"]),
        ("set -e; cd /; x", ["/"]),
        ("command cd / && x", ["/"]),
        ("cd / | y; x", ["/ada/proj"]),
        ("pushd / && x", ["/"]),
        ("popd && x", [None]),
        ('cd "$unset" && x', [None]),
        ("CDPATH=/; cd a && x", [None]),
        ("for a in b c; do cd ..; done; x", [None]),
        ("cd() { :; }; cd / && x", ["/", "/ada/proj"]),
        ("f() { cd /; }; f; x", [None]),
        (". ./y; cd a && x", [None]),
    ],
)
def test_the_folder_is_known_as_far_as_it_can_be(text: str, folders: list[str | None]) -> None:
    """A command is noted for each folder that it may run in: a `cd` that can fail leaves two."""
    assert [each.cwd for each in read_here(text).commands if each.source == "x"] == folders


def test_a_change_of_folder_over_a_link_leads_to_both_places(tmp_path: Path) -> None:
    """`..` behind a link is what is written, or what the file system says."""
    (tmp_path / "far" / "deep").mkdir(parents=True)
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "link").symlink_to(tmp_path / "far" / "deep")
    program = read("cd link/.. && x", world(str(tmp_path / "near")))
    assert [each.cwd for each in program.commands if each.source == "x"] == [
        str(tmp_path / "near"),
        str((tmp_path / "far").resolve()),
    ]


@each_row(
    "text",
    [
        "a=m; if x; then a=y; fi; $a",
        "a=m; read a; $a",
        "a=m; while x; do $a; a=y; done",
        "a=m; f() { a=y; }; f; $a",
        "f() { a=y; }; a=m; $a",
        "a=m; . ./x; $a",
        "a=m; declare -u a; $a",
        "$a",
        "a=m; unset a; $a",
        'a=m; for a in "$@"; do $a; done',
        "a=m; printf -v a y; $a",
        "a=m; ((a=1)); $a",
        "a=$(x); $a",
        "IFS=x; a=m; $a",
        "a=m; x && a=y; $a",
        "a=(m); $a",
        "$1",
        "$@",
        "$RANDOM",
        "a=m; trap 'a=y' DEBUG; $a",
    ],
)
def test_a_variable_that_may_have_changed_is_unknown(text: str) -> None:
    """Only what was assigned once, in order and without condition, is believed."""
    names = [
        each.name for each in read_here(text).commands if each.source.startswith(("$a", "$1", "$@", "$R"))
    ]
    assert names
    assert all(name is None or name.value is None for name in names)


def test_a_loop_over_words_is_read_once_for_each() -> None:
    """The variable of a loop over known words has each of them in turn."""
    found = read_here('for d in a b; do rm -r "$d/x"; done').commands
    assert [[word.value for word in each.words] for each in found] == [
        ["rm", "-r", "a/x"],
        ["rm", "-r", "b/x"],
    ]


def test_a_loop_over_a_pattern_has_the_pattern_for_its_variable() -> None:
    """A loop's variable has the pattern for its value; unquoted it may be split, which only running tells."""
    quoted = next(each for each in read_here('for f in /*; do rm "$f"; done').commands)
    assert quoted.words[1].parts == (Text("/"), Glob("*"))
    unquoted = [each.words[1].parts for each in read_here("for f in /*; do rm $f; done").commands]
    assert unquoted == [(Text("/"), Glob("*")), (Unknown("$f", may_be_many=True),)]
