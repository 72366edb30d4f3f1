"""`hubbub gate check`: cases in, decisions out, and nothing done."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.processes import hubbub

SAMPLE = Path(__file__).with_name("gate-sample.jsonl")
Answers = Mapping[str, dict[str, Any]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a project in it."""
    (tmp_path / "proj").mkdir()
    (tmp_path / ".ssh").mkdir()
    return tmp_path


def checked(home: Path, cases: list[dict[str, Any]], *options: str) -> Answers:
    """Return the answer to each case, by its id."""
    done = hubbub(
        *("gate", "check", "--home", str(home), "--workspace", str(home / "proj"), *options),
        data=home / "data",
        given="".join(f"{json.dumps(case)}\n" for case in cases),
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["id"] for each in answers] == [case["id"] for case in cases]
    return {each["id"]: each for each in answers}


def case(
    tool: str, id_: str = "1", *, more: Mapping[str, object] | None = None, **arguments: object
) -> dict[str, Any]:
    return {"id": id_, "tool": tool, "args": arguments, **(more or {})}


def download(id_: str, url: str, **stubs: object) -> dict[str, Any]:
    return case("download_file", id_, url=url, dest="got", more=stubs)


def decisions(answers: Answers) -> dict[str, str]:
    return {name: answer["decision"] for name, answer in answers.items()}


def test_each_case_is_answered_in_turn(home: Path) -> None:
    """A line for a line: the decision, what made it, and why; fields that are not known are passed over."""
    answers = checked(
        home,
        [
            case("execute_command", "a", command="rm -rf /", more={"why": "plain", "cls": "x"}),
            case("execute_command", "b", command="ls"),
            case("execute_command", "c", command="make"),
            case("no_such_tool", "d"),
        ],
    )
    assert decisions(answers) == {"a": "deny", "b": "allow", "c": "ask", "d": "deny"}
    assert set(answers["a"]) == {"id", "decision", "source", "rule_id", "reason"}
    assert (answers["a"]["source"], answers["a"]["rule_id"]) == ("floor", "F1")


def test_the_sample_is_decided_as_it_is_meant(home: Path) -> None:
    """Every one of the examples that the gate was specified with gets an answer that is accepted."""
    places = {
        "@@HOME@@": home,
        "@@WS@@": home / "proj",
        "@@HUB_HOME@@": home / ".config" / "hubbub",
        "@@HUB_CLI@@": "hubbub",
    }
    text = SAMPLE.read_text("utf-8")
    for name, place in places.items():
        text = text.replace(name, str(place))
    cases = [json.loads(line) for line in text.splitlines()]
    for step in (step for each in cases for step in each.get("setup", ())):
        link, target = step["symlink"]
        Path(link).symlink_to(target)
    answers = checked(home, cases, "--mode", "bypass")
    assert {each["id"] for each in cases if answers[each["id"]]["decision"] not in each["accept"]} == set()
    assert len(answers) == 40


def test_in_bypass_only_the_floor_answers(home: Path) -> None:
    """There are no rules then, so that what the floor leaves alone is allowed; nothing is done all the same."""
    cases = [
        case("execute_command", "make", command="touch made"),
        case("execute_command", "doubt", command="$(cat x) y"),
        case("write_file", "env", path=".env", content=""),
    ]
    answers = checked(home, cases, "--mode", "bypass")
    assert decisions(answers) == {"make": "allow", "doubt": "ask", "env": "deny"}
    assert list((home / "proj").iterdir()) == []


def test_a_policy_is_the_operators(home: Path) -> None:
    """`--policy` has the rules, and `--mode` goes before its mode."""
    policy = home / "node.toml"
    policy.write_text(
        'mode = "strict"\n[rules]\ndeny = ["Bash(make clean)"]\nask = ["Read(./x)"]\n'
        'allow = [{ rule = "execute_command(git push *)", match = ["git push a"], not_match = ["git push a; ls"] }]\n'
    )
    cases = [
        case("execute_command", "push", command="git push origin"),
        case("execute_command", "two", command="git push origin; rm x"),
        case("execute_command", "clean", command="make clean"),
        case("execute_command", "ls", command="ls"),
        case("read_file", "x", path="x"),
        case("read_file", "policy", path=str(policy)),
    ]
    options = ("--policy", str(policy))
    strict = {"push": "allow", "two": "deny", "clean": "deny", "ls": "deny", "x": "ask", "policy": "deny"}
    assert decisions(checked(home, cases, *options)) == strict
    bypass = {"push": "allow", "two": "allow", "clean": "deny", "ls": "allow", "x": "ask", "policy": "deny"}
    assert decisions(checked(home, cases, *options, "--mode", "bypass")) == bypass


def test_a_policy_that_does_not_load_is_strict_and_loud(home: Path) -> None:
    """All is denied then, whatever `--mode` says, and standard error says why; the exit code is 1."""
    policy = home / "node.toml"
    policy.write_text('mode = "lax"')
    done = hubbub(
        *("gate", "check", "--policy", str(policy), "--mode", "bypass"),
        data=home / "data",
        given=json.dumps(case("execute_command", command="ls")),
    )
    assert (done.returncode, json.loads(done.stdout)["decision"]) == (1, "deny")
    assert "mode must be one of default, strict, bypass" in done.stderr


def test_the_products_own_folders_are_protected(home: Path) -> None:
    """Configuration and data, where the environment says they are, and where they are by default."""
    own = [home / "data" / "audit.jsonl", home / ".config" / "hubbub" / "node.toml"]
    cases = [case("read_file", str(path), path=str(path)) for path in own]
    assert set(decisions(checked(home, cases, "--mode", "bypass")).values()) == {"deny"}


def test_searches_say_what_they_leave_out(home: Path) -> None:
    """`omits` are protected paths below the searched folder, links into protected folders among them."""
    (home / "proj" / ".env").write_text("A=1")
    (home / "proj" / "keys").symlink_to(home / ".ssh")
    (home / "proj" / "main.py").write_text("")
    answers = checked(home, [case("grep", pattern="x", path="."), case("glob", "2", pattern="**/*")])
    for answer in answers.values():
        assert answer["decision"] == "allow"
        omitted = {Path(each).name for each in answer["omits"]}
        assert {".env", "keys"} <= omitted
        assert "main.py" not in omitted


PUBLIC, OTHER = "93.184.216.34", "93.184.216.35"
DNS = {"a.test": [PUBLIC], "b.test": [OTHER], "in.test": ["10.0.0.1"], "me.test": ["127.0.0.1"]}


def test_downloads_are_followed_through_stubs(home: Path) -> None:
    """Names, answers that change, and redirects are as the case says; `address` is the last that was checked."""
    turning = {"a.test": [[PUBLIC], ["127.0.0.1"]]}
    answers = checked(
        home,
        [
            download("plain", "https://a.test/x", dns=DNS),
            download("on", "http://a.test/", dns=DNS, http={"http://a.test/": moved("https://b.test/y")}),
            download("back", "http://a.test/", dns=DNS, http={"http://a.test": moved("http://me.test/")}),
            download("beside", "http://a.test/x", dns=DNS, http={"http://a.test/x": moved("/y")}),
            download("file", "http://a.test/", dns=DNS, http={"http://a.test/": moved("file:///etc/passwd")}),
            download("round", "http://a.test/", dns=DNS, http={"http://a.test/": moved("http://a.test/")}),
            download("private", "http://in.test/", dns=DNS),
            download("me", "http://me.test/", dns=DNS),
            download("turned", "http://a.test/", dns_sequence=turning),
            download(
                "turned on", "http://a.test/", dns_sequence=turning, http={"http://a.test/": moved("/again")}
            ),
            download("five", "http://a.test/0", dns=DNS, http=chain(5)),
            download("six", "http://a.test/0", dns=DNS, http=chain(6)),
            download("other script", "http://b\u00fccher.test/", dns={"B\u00dcCHER.test.": [PUBLIC]}),
            download("unknown", "http://c.test/", dns=DNS),
            download("unasked", "http://c.test/"),
        ],
        *("--mode", "bypass"),
    )
    allowed = {"plain": PUBLIC, "on": OTHER, "beside": PUBLIC, "private": "10.0.0.1", "turned": PUBLIC}
    allowed |= {"five": PUBLIC, "other script": PUBLIC}
    assert {name: each["address"] for name, each in answers.items() if each["decision"] == "allow"} == allowed
    assert answers["unasked"]["decision"] == "ask"
    denied = {each["rule_id"] for each in answers.values() if each["decision"] == "deny"}
    assert denied == {"F7"}


def test_stubs_may_be_written_in_several_ways(home: Path) -> None:
    """Whichever way a redirect is written, it is followed."""
    ways: list[object] = [
        {"http://a.test/": {"status": 302, "location": "http://me.test/"}},
        {"http://a.test/": {"status": 302, "headers": {"Location": "http://me.test/"}}},
        {"http://A.test:80/": {"status": 308, "Location": "http://me.test/"}},
        {"http://a.test/": {"status": 302, "headers": [["Location", "http://me.test/"]]}},
        {"http://a.test/": {"redirect_to": "http://me.test/"}},
        {"http://a.test/": [{"status": 302, "location": "http://me.test/"}, {"status": 200}]},
        {"http://a.test/": {"status": 302}},
        {"http://a.test/": [301, "http://me.test/"]},
        {"http://a.test/": "http://me.test/"},
        [{"url": "http://a.test/", "status": 302, "location": "http://me.test/"}],
    ]
    cases = [download(str(number), "http://a.test/", dns=DNS, http=way) for number, way in enumerate(ways)]
    assert set(decisions(checked(home, cases)).values()) == {"deny"}


def chain(redirects: int) -> dict[str, Any]:
    """So many redirects in a row."""
    return {f"http://a.test/{number}": moved(f"/{number + 1}") for number in range(redirects)}


def moved(location: str) -> dict[str, Any]:
    return {"status": 302, "headers": {"location": location}}


def test_a_line_that_is_no_case_does_not_stop_the_others(home: Path) -> None:
    """It gets a sentence of its own, and in the end the exit code says that there was one."""
    lines = ["{", "[]", '{"id": 1}', '{"tool": "grep", "args": []}', '{"tool": "x", "http": 1}', ""]
    done = hubbub(
        *("gate", "check"),
        data=home / "data",
        given="\n".join([*lines, json.dumps(case("execute_command", command="ls"))]),
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [each.get("line") for each in answers] == [1, 2, 3, 4, 5, None]
    assert all(each["error"] for each in answers[:-1])
    assert answers[-1]["decision"] == "allow"
