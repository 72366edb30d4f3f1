import pytest

from shellgate.shell.program import Glob, Place, Program, SimpleCommand, Text, Unknown
from shellgate.shell.read import read
from tests.shellgate.shell.shell_worlds import world
from tests.support.each_row import each_row


def seen(text: str, **variables: str) -> Program:
    return read(text, world(**variables))


def called(text: str, **variables: str) -> list[list[str | None]]:
    """The words of all commands that have any."""
    program = seen(text, **variables)
    assert program.doubts == ()
    return [[word.value for word in command.words] for command in program.commands if command.words]


def command(text: str, name: str) -> SimpleCommand:
    """The first command of a name in a program."""
    return next(each for each in seen(text).commands if each.name is not None and each.name.value == name)


def document(line: str) -> str:
    """A program with a here-document of that line."""
    return f"z <<E\n{line}\nE\n"


@each_row(
    "text",
    [
        "r'm' x",
        'r"m" x',
        "\\rm x",
        "$'\\x72m' x",
        "$'\\162\\u006d' x",
        '$"rm" x',
        "r''m x",
        "X=rm; $X x",
        "X=r; ${X}m x",
        "X='rm x'; $X",
        "X=rm.y; ${X%.y} x",
        "X=y-rm; ${X##*-} x",
        "X=; ${X:-rm} x",
        "rm${IFS}x",
        "time -p rm x",
        "! rm x",
        "X=r; X+=m; $X x",
        "export X=rm; $X x",
        "rm \\\n x",
        "eval 'rm x'",
        "X=rm; eval '$X x'",
    ],
)
def test_a_name_is_known_however_it_is_written(text: str) -> None:
    """Quotes, escapes, constants and parameter expansions are resolved."""
    assert ["rm", "x"] in called(text)


def test_braces_are_expanded() -> None:
    """Lists and ranges become words, one each."""
    assert called("x {a,b{1..3}}") == [["x", "a", "b1", "b2", "b3"]]


@each_row(
    ["text", "words"],
    [
        ("{a}b,c}", ["a}b", "c"]),
        ("{a},-b}", ["a}", "-b"]),
        ("{{a}b,c}", ["{a}b", "c"]),
        ("{{a,b}}c,d}", ["a}c", "b}c", "d"]),
        ("{},a}{b,c}", ["{},a}b", "{},a}c"]),
        ("x{},a}", ["x}", "xa"]),
        ("''{},/etc}", ["}", "/etc"]),
        ("{a,b}{},c}", ["a{},c}", "b{},c}"]),
        ("{1..{a,b}}", ["1..a", "1..b"]),
        ("n{..{,}}", ["n..", "n.."]),
        ("{{a,b}1..3}", ["a1..3", "b1..3"]),
        ("{{a,b}..}", ["{a..}", "{b..}"]),
        ("{1..{2..3}}a{4..5}", ["{1..{2..3}}a4", "{1..{2..3}}a5"]),
        ("{1..\\{,a}", ["1..{", "a"]),
        ("{q}", ["{q}"]),
        ("{1..q}", ["{1..q}"]),
    ],
)
def test_braces_are_paired_as_bash_does(text: str, words: list[str]) -> None:
    """A brace closes behind a separator only, and a comma further in drops the braces of a range."""
    assert called(f"x {text}") == [["x", *words]]


@each_row("text", ["${a:+{b,}{c,d}", '{1..","}', "{1..${a:-b,c}}", "a\\ {},b}"])
def test_braces_around_what_only_bash_knows_are_a_doubt(text: str) -> None:
    """A comma in quotes or in an expansion may drop the braces of a range, and a quoted blank may keep some shut."""
    assert seen(f"x {text}").doubts


@each_row(
    ["text", "word"],
    [
        ("o=~", "o=/ada"),
        ("o+=~", "o+=/ada"),
        ("o=\\z:~", "o=z:/ada"),
        ("o='z':~/x", "o=z:/ada/x"),
        ('o="z:"~', "o=z:~"),
        ('o=""~', "o=~"),
        ("o{1..1}=~", "o1=~"),
        ("o={z,}:~", "o=z:~"),
        ("-o=~", "-o=~"),
    ],
)
def test_an_argument_of_the_form_of_an_assignment_has_its_tildes(text: str, word: str) -> None:
    """A tilde behind its `=` or an unquoted `:` is the home, whatever is quoted before, unless braces made it."""
    assert called(f"x {text}")[0][1] == word


@each_row(
    "text",
    [
        "echo $(rm x)",
        'echo "a $(rm x)"',
        "echo `rm x`",
        'echo "`rm x`"',
        "cat <(rm x)",
        "tee >(rm x)",
        "a=$(rm x)",
        "a[$(rm x)]=1",
        "a=($(rm x))",
        "echo $((1 + $(rm x)))",
        "echo ${a:-$(rm x)}",
        'echo "${a:-$(rm x)}"',
        "[[ -n $(rm x) ]]",
        "(( $(rm x) ))",
        "cat <<E\n$(rm x)\nE",
        "cat <<< $(rm x)",
        "case $(rm x) in y) ;; esac",
        "case y in $(rm x)) ;; esac",
        "for a in $(rm x); do y; done",
        "y > $(rm x)",
        "f() { rm x; }",
        "f() (rm x)",
        "coproc rm x",
        "if rm x; then y; fi",
        "if y; then z; elif rm x; then z; fi",
        "while rm x; do y; done",
        "for ((i=$(rm x);;)); do break; done",
        "select a in $(rm x); do y; done",
        "(rm x)",
        "{ rm x; }",
        "y | rm x",
        "y && rm x",
        "y & rm x",
        "y\nrm x",
        "y; rm x",
        "trap 'rm x' EXIT",
        "echo `echo \\`rm x\\``",
        "mapfile -C 'rm x;' a",
        "a=y; a=rm <<E\n$($a x)\nE",  # without a command, bash assigns before it redirects
        "a=rm; a=y z <<E\n$($a x)\nE",
    ],
)
def test_a_command_is_found_wherever_it_stands(text: str) -> None:
    """All simple commands of a program are seen, nested ones too, and code that is text."""
    assert ["rm", "x"] in called(text)


@each_row(
    "text",
    [
        "echo '$(rm x)'",
        "echo \\$(rm x\\)".replace("(", "\\("),
        "echo '`rm x`'",
        "# $(rm x)\ny",
        "cat <<'E'\n$(rm x)\nE",
        'echo "\\$(rm x)"',
        "echo rm x",
        "echo $'$(rm x)'",
        "y # ; rm x",
    ],
)
def test_text_that_is_not_run_is_no_command(text: str) -> None:
    """Quoted or escaped text and comments are not read as code."""
    assert ["rm", "x"] not in called(text)


@each_row(
    "text",
    [
        "cat <<E | sh\nx\nE\n",
        'cat <<E"F"\nx\nEF\n',
        "cat <<\\E\nx\nE\n",
        "cat <<E\nx\n",
        "r\\\nm x",
        "$\\\n(rm x)",
        'echo "$\\\n(rm x)"',
        "cat <<E\n`rm x`\nE\n",
        "if",
        "then x",
        "! { x; }; }",
        "echo $(",
        "echo 'x",
        'echo "x',
        "echo ${x",
        "case x in",
        "x ))",
        "x\r\ny",
        "echo a\u202eb",
        "echo a\u200bb",
        "echo a\x00b",
        "echo a\x1bb",
        "echo a\u00a0b",
        "echo \ud800",
        'trap "$x" EXIT',
        'alias "$x"',
        'mapfile -C "$x" a',
        "hash -p /bin/rm ls",
        "enable -f x y",
        "PROMPT_COMMAND=$x",
        "PS4='$(rm x)'",
        "BASH_ENV=x y",
        "shopt -s expand_aliases",
        "set -o posix",
        "x='a[$(rm y)]'; ((x))",
        "declare -a 'x=($(rm y))'",
        "unset 'a[$(rm y)]'",
        "let 'a[$(rm y)]=1'",
        "[[ -v 'a[$(rm y)]' ]]",
        'read "$x"',
        "compgen -W '$(rm y)'",
        "echo {1..100000}",
        'echo "$${x"',
        'echo "$$(x)"',
        "((1 + $(coproc x)))",
        "x `y '\\\n'`",
        'echo "${x#\\a}"',
        'echo "${x:+"\\a"}"',
        "x <<E\n$(y '\\\nz')\nE\n",
        "x <<E\n$(y # \\\nz\n)\nE\n",
        "echo $[1]",
        "a[1 + 2]=3",
        "echo ${x-<(rm y)}",
        "x=${x:=a>(rm y)}",
        "echo ${x/a/<(rm y)}",
        ">&-rm x",
        ">& -rm x",
        "<&-rm x",
        '2>& -r"m" x',
    ],
)
def test_what_bash_may_understand_otherwise_is_a_doubt(text: str) -> None:
    """Nothing that the two readers could disagree on passes silently (F9)."""
    assert seen(text).doubts


@each_row(
    "text",
    ["x" * 65537, "x;" * 501, "$(" * 33 + "x" + ")" * 33, "( " * 33 + "x" + " )" * 33, "echo " + "é" * 32768],
)
def test_what_is_too_large_is_not_read(text: str) -> None:
    """More than 64 KiB, 500 commands or 32 levels are over the limit."""
    assert seen(text).too_large


@each_row(
    "text",
    [
        "export PS4='$(rm y)'; set -x; x",
        "for PS4 in '$(rm y)'; do set -x; x; done",
        ": ${PS4:='$(rm y)'}; set -x; x",
        "read PS4 <<< '$(rm y)'; set -x; x",
        "declare -n r=PS4; r='$(rm y)'; set -x; x",
        "declare -i i; i='a[$(rm y)]'",
        "echo ${a['$(rm y)']}",
        "a=(['$(rm y)']=x)",
        "a='($(rm y))'; declare -a b=\"$a\"",
        "a='$(rm y)'; echo ${a@P}",
        "a='b[$(rm y)]'; echo ${!a}",
        "a='b[$'; a+='(rm y)]'; echo $((a))",
        "a='b[$(rm y)]'; [[ a -eq 0 ]]",
        "read -r a <<'E'\nb[$(rm y)]\nE\n((a))",
        "history -s 'rm y'; fc -s rm",
        "set -k$(y); x a=b",
        "x >&'$(rm y)'",
        "x 1>&'log$(rm y)'",
        "x 01>&\\`rm\\ y\\`",
        "{ x; } >&'<(rm y)'",
        "a='$(rm y)'; x >&$a",
        'x >&"$a"',
    ],
)
def test_a_quoted_text_that_bash_would_run_all_the_same_is_a_doubt(text: str) -> None:
    """Subscripts, prompts, files behind `>&` and the like run substitutions that were quoted where they stand (F9)."""
    assert seen(text).doubts


def test_a_dash_behind_a_redirection_is_a_word_of_its_own() -> None:
    """The text behind `>&-` belongs to the command, and is read as such, besides the doubt about it."""
    for text in (">&-rm x", ">& -rm x", "<& -rm x"):
        (command,) = seen(text).commands
        assert [word.value for word in command.words] == ["rm", "x"]


@each_row(
    "text",
    [
        "cd y || coproc exit; rm x",
        "coproc exit; rm x",
        "a=rm; coproc a=ls; $a x",
        "coproc cd y; rm x",
        "exit & rm x",
    ],
)
def test_a_coprocess_changes_nothing_here(text: str) -> None:
    """Nothing that a coprocess does to itself changes the shell that began it."""
    assert ("rm x", "/ada/proj") in {
        (" ".join(w.value or "" for w in c.words), c.cwd) for c in seen(text).commands
    }


@each_row(
    "text",
    [
        "a=ls; printf -v a rm; $a x",
        "a=ls; printf -va rm; $a x",
        'a=ls; printf "$(y)" rm; $a x',
        "a=ls; read -aa <<<rm; $a x",
        "a=ls; read -rsaa <<<rm; $a x",
        "a=ls; wait -pa; $a x",
    ],
)
def test_a_variable_that_a_command_fills_is_unknown(text: str) -> None:
    """The name of a variable may be joined to an option of the command that fills it."""
    assert [None, "x"] in called(text)


@each_row(
    "text",
    [
        "x >&2",
        "x >&-",
        "x 2>&1-",
        "x >&log.txt",
        "x >&'a file'",
        "x 2>&'$(rm y)'",
        "x &>'$(rm y)'",
        "x >'$(rm y)'",
        "a=2; x >&$a",
    ],
)
def test_a_redirection_that_runs_nothing_is_no_doubt(text: str) -> None:
    """Only what bash expands a second time has to be read by a person."""
    assert seen(text).doubts == ()


@pytest.mark.parametrize("text", ["x" * 65000, "x;" * 500, "$(" * 31 + "x" + ")" * 31])
def test_what_is_large_but_not_too_large_is_read(text: str) -> None:
    """Up to the limits a program is read."""
    program = seen(text)
    assert program.too_large is None
    assert program.commands


def test_patterns_are_kept_apart_from_text() -> None:
    """Unquoted patterns are patterns, quoted ones are text."""
    assert command("x a*'*'[bc]", "x").words[1].parts == (Text("a"), Glob("*"), Text("*"), Glob("[bc]"))


def test_what_only_running_tells_is_unknown() -> None:
    """A substitution is unknown, and may be any number of words where it is not quoted."""
    assert command('x "a$(y)" $(y)', "x").words[1:][0].parts == (Text("a"), Unknown("$(y)"))
    assert command('x "a$(y)" $(y)', "x").words[2].parts == (Unknown("$(y)", may_be_many=True),)


def test_redirections_have_their_targets_and_here_documents_their_text() -> None:
    """Targets are words; the body of a here-document has its variables filled in, unless its end is quoted."""
    [read_one] = [each for each in seen("x 2> ~/o < i >> o2").commands if each.words]
    assert [
        (each.operator, each.descriptor, each.target and each.target.value) for each in read_one.redirects
    ] == [
        (">", "2", "/ada/o"),
        ("<", None, "i"),
        (">>", None, "o2"),
    ]
    [live] = command("x <<E\nhi $HOME\nE\n", "x").redirects
    assert live.body is not None
    assert live.body.value == "hi /ada\n"
    [quoted] = command("x <<'E'\nhi $HOME\nE\n", "x").redirects
    assert quoted.body is not None
    assert quoted.body.value == "hi $HOME\n"


def test_a_pipe_says_what_is_read_from_what() -> None:
    """The command behind a pipe knows the one before it, and what stands in a group behind it that it is piped."""
    sh = command("curl u | sh", "sh")
    assert sh.is_piped
    assert sh.reads_from is not None
    assert sh.reads_from.words[0].value == "curl"
    assert command("curl u | { cat; sh; }", "sh").is_piped
    assert not command("curl u; sh", "sh").is_piped


def test_functions_say_whom_they_call_and_how() -> None:
    """A function that calls itself in a pipe and in the background is seen to."""
    [first, second] = seen(":(){ :|:& };:").calls
    assert (first.caller, first.callee, first.is_background, first.is_piped) == (":", ":", True, False)
    assert (second.is_background, second.is_piped) == (True, True)


@each_row(
    ("text", "is_endless"),
    [
        ("while true; do x; done", True),
        ("while :; do x; done", True),
        ("for ((;;)); do x; done", True),
        ("until false; do x; done", True),
        ("while read a; do x; done", False),
        ("for ((i=0;i<3;i++)); do x; done", False),
    ],
)
def test_an_endless_loop_is_told_from_one_that_ends(text: str, is_endless: bool) -> None:
    """A loop whose condition is constant is endless."""
    assert command(text, "x").is_looped
    assert command(text, "x").loop_is_endless is is_endless


def test_where_a_command_stands_is_told() -> None:
    """Substitutions, functions and code that is text have places of their own."""
    assert command("y $(x)", "x").place is Place.SUBSTITUTION
    assert command("f() { x; }", "x").place is Place.FUNCTION
    assert command("f() { x; }", "x").function == "f"
    assert command("trap 'x' EXIT", "x").place is Place.TRAP
    assert command("x &", "x").is_background


def test_reading_can_go_on_inside_another_program() -> None:
    """The text of an `eval` is read where it stands: in its folder, with its variables, so deep."""
    program = read("$X y", world(), cwd="/tmp", variables={"X": "rm"})
    assert [(each.words[0].value, each.cwd) for each in program.commands] == [("rm", "/tmp")]
    assert read("(x)", world(), depth=32).too_large


@each_row(
    "text",
    [
        "$((" * 40 + "1" + "))" * 40,
        "${a:-" * 60 + "x" + "}" * 60,
        "`" * 2000,
        "((" * 500,
        "$(" * 3000,
        '"$(' * 300,
        "{a,b}" * 40,
        "<<E " * 300,
        "; case x in " * 200,
        "; [[ " * 500,
    ],
)
def test_no_text_makes_the_reader_slow_or_fail(text: str) -> None:
    """Nests of anything end in a doubt or over the limit, soon."""
    program = seen("x " + text)
    assert program.doubts or program.too_large


def test_a_prompt_is_read_as_the_code_that_it_is() -> None:
    """A command that `PS4` would run is seen, besides the doubt about it."""
    program = seen("PS4='$(rm x)'; set -x; y")
    assert program.doubts
    assert ["rm", "x"] in [[word.value for word in each.words] for each in program.commands]


def test_a_home_in_a_list_of_an_argument_is_unknown() -> None:
    """Bash expands the tilde of `~:$a` and nothing behind it."""
    for text in ("~:$a", "~=~$a"):
        assert command(f"a=b; x {text}", "x").words[1].value is None


@each_row("text", ["a[1]=~", "a[]=~", "a[$b]=~/x", "a[1]+=b:~"])
def test_an_argument_like_an_element_with_a_tilde_is_unknown(text: str) -> None:
    """It has the form of an assignment, too; where its subscript ends is not read."""
    assert command(f"x {text}", "x").words[1].value is None


def test_a_variable_before_some_dollars_may_keep_its_blanks() -> None:
    """Bash does not split `$a` in `$a$!` while nothing ran in the background, nor in `$a$`."""
    for text in ("$a$!", "$a$", "y${a}z$", "$a{$"):
        assert [word.value for word in command(f"a='b c'; x {text} $a", "x").words] == ["x", None, "b", "c"]
    assert [word.value for word in command("x a$ $", "x").words] == ["x", "a$", "$"]


@each_row(["escaped", "value"], [("\\a", "\\a"), ("\\$", "$"), ("\\}", "}"), ('\\"', '"'), ("c\\\nd", "cd")])
def test_a_backslash_in_quoted_braces_stays_before_most_characters(escaped: str, value: str) -> None:
    """Within `"${…}"` it quotes what it quotes in double quotes, and the brace; a line goes on behind it."""
    assert command(f'a=b; x "${{a:+{escaped}}}"', "x").words[1].value == value


@each_row(
    ["declaration", "words"],
    [
        ("export b=$a", ["p q"]),
        ("export b='x'$a", ["xp q"]),
        ("export -- b=$a", [None]),
        ("export b={$a,x}", [None]),
        ("command export b=$a", ["p"]),
        ("\\export b=$a", ["p"]),
    ],
)
def test_a_declared_value_is_not_split(declaration: str, words: list[str | None]) -> None:
    """`export NAME=$a` gives the name all of the value, unless the word `export` is quoted or follows another."""
    assert [each.value for each in command(f'a="p q"; {declaration}; x "$b"', "x").words][1:] == words


@each_row("text", ["{ a=c; } < y", "export a=c < y", "for i in 1; do a=c; done > y", "cd / < y"])
def test_what_a_failed_redirection_keeps_from_running_may_not_have_run(text: str) -> None:
    """Bash runs nothing of a command whose file cannot be opened, so that both moments are possible."""
    after = [
        each for each in seen(f"a=b; {text}; x $a").commands if each.words and each.words[0].value == "x"
    ]
    assert {(each.words[1].value, each.cwd) for each in after} >= {(after[0].words[1].value, "/ada/proj")}
    assert "c" not in {each.words[1].value for each in after}


def test_only_the_word_itself_starts_a_coprocess() -> None:
    """A command whose name begins like `coproc` is one like any other."""
    assert called("coprocx { y") == [["coprocx", "{", "y"]]
    assert called("time coproc'x' { y") == [["coprocx", "{", "y"]]


def test_braces_behind_a_variable_lengthen_its_name() -> None:
    """Braces are expanded as text: `$a{b,c}` is `$ab $ac`, and neither need be known."""
    for text in ("x $HOME{a,b}", "x {a,$}HOME"):
        [word] = command(text, "x").words[1:]
        assert word.value is None
    assert [word.value for word in command("x ${HOME}{a,b}", "x").words] == ["x", "/adaa", "/adab"]


def test_a_list_behind_a_here_document_in_a_substitution_is_a_doubt() -> None:
    """Bash 5.2 loses a semicolon there, and takes two commands for one."""
    assert seen("echo $(x <<E\nE\nrm -r; y /)").doubts
    assert seen("git commit -m \"$(cat <<'E'\nthe message\nE\n)\"").doubts == ()


def test_a_long_pipe_is_told_stage_by_stage() -> None:
    """However long it is; and of two that end alike, each is kept."""
    assert len(seen("|".join(["cat"] * 499)).commands) == 499
    ends = [each for each in seen("a | sh; b | sh; a | sh").commands if each.words[0].value == "sh"]
    assert [each.reads_from and each.reads_from.source for each in ends] == ["a", "b"]


@pytest.mark.parametrize("text", ['r[$(m<<E\n"\nE\n)]=x', "r[${x-$(m<<E\nit's\nE\n)}]=x"])
def test_a_here_document_in_a_subscript_is_a_doubt(text: str) -> None:
    """Where bash looks for the end of a subscript, a quote in the text of a here-document quotes."""
    assert seen(text).doubts


@pytest.mark.parametrize("text", ["r[$((1<<2))]=x", "m a$(m<<E\nx\nE\n)[1]"])
def test_a_subscript_without_a_here_document_is_read(text: str) -> None:
    """A shift is no here-document, and one before the bracket is in no subscript."""
    assert not seen(text).doubts


@pytest.mark.parametrize(
    "text",
    [
        r'z "${x-`\"a b\"`}"',
        r'z "${x-"`\"a b\"`"}"',
        document(r"${x-`\"\"`}"),
        document(r"${x:=${y-`\"a b\"`}}"),
        document(r"`\"a b\"`"),
    ],
)
def test_an_escaped_quote_in_backquotes_in_an_expansion_is_a_doubt(text: str) -> None:
    """Bash takes an escaped quote in backquotes for a character, once braces or a here-document are around them."""
    assert seen(text).doubts


@pytest.mark.parametrize("text", [r'z "`\"a b\"`"', r'z "${x}`\"a b\"`"'])
def test_an_escaped_quote_in_quoted_backquotes_quotes(text: str) -> None:
    """Right within double quotes, an escaped quote in backquotes quotes, also behind an expansion."""
    assert ["a b"] in called(text, x="y")


def test_what_grows_without_bound_is_unknown_or_a_doubt() -> None:
    """Variables that are doubled and doubled again, braces in braces, the homes of everybody."""
    assert command("a=xxxxxxxxxx;" + "a=$a$a;" * 40 + "cat $a", "cat").words[1].value is None
    assert command("a=xxxxxxxxxx;" + "a+=$a;" * 40 + 'cat "$a"', "cat").words[1].value is None
    for text in ("{a," * 900 + "}" * 900, "{a,b}" * 400, " ".join(f"~u{number}" for number in range(100))):
        assert seen(f"cat {text}").doubts


def test_a_subscript_is_evaluated_where_an_element_is_assigned() -> None:
    """The value of the variable in it is code then."""
    assert seen("x='a[$(rm y)]'; z[x]=1").doubts
    assert seen("x='a[$(rm y)]'; z=([x]=1)").doubts
    assert read("echo $((b))", world(), variables={"b": "c[$(rm y)]"}).doubts
    assert not seen("z[0]=1; z=([1]=2); echo '$(x)['").doubts
