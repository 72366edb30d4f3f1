"""`hubbub approve` and `hubbub deny`: a person's answer, without a terminal."""

import re
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from hubbub.cli.fleet.approver_signatures import PARTS
from hubbub.model.fleet.approval_signatures import statement
from hubbub.node.policy.approver_keys import sign
from tests.cli.processes import RunningHub
from tests.cli.screens import Screen, at_terminal, on_screen
from tests.serve.rest.fleet.desk_requests import asking, for_agent

DIGEST = "0123456789abcdef" * 4
ASKED = "asked by ada's own program, which says it runs on box"


def ask(hub: RunningHub, node: str = "box", **more: Any) -> Any:
    """Ask a question, as a program beside an agent does."""
    told = {"who": for_agent("ada"), "shown": "git push\x1b[2J", **more}
    content = asking(**told)
    hub.client().post("/desk", {"node": node, "need": "put", "content": content})
    return hub.client().get(f"/approvals/{content['approval_id']}")["approval"]


def test_what_waits_is_listed_and_answered(hub: RunningHub) -> None:
    """It is listed with all that a person needs in order to answer; an answer is given by the beginning of the id."""
    first, second = ask(hub), ask(hub)
    listed = hub.json("approve")
    assert {each["id"] for each in listed} == {first["id"], second["id"]}
    rows = [line.split("\t") for line in hub.run("approve").stdout.splitlines()]
    (row,) = [row for row in rows if row[0] == first["id"]]
    assert row[1:-1] == [
        "ada",
        "ada@box",
        "execute_command",
        r"git push\u001b[2J",
        "/srv/app",
        "it changes what others have",
    ]
    assert row[-1].endswith(" s")
    assert 0 < int(row[-1].removesuffix(" s")) <= 60

    assert hub.run("approve", first["id"][:13]).stdout == (
        f"approved {first['id']} (ada on box, as its own program says, execute_command: git push\\u001b[2J)\n"
    )
    assert hub.json("deny", second["id"])["status"] == "denied"
    assert hub.json("approve") == []
    assert hub.run("approve").stdout == ""
    again = hub.run("deny", first["id"])
    assert (again.returncode, again.stdout) == (1, "")
    assert "it was approved by owner" in again.stderr


def test_a_denial_has_a_reason(hub: RunningHub) -> None:
    """The reason of a denial reaches the agent whose call it was, as a message."""
    hub.meet("ada")
    asked = ask(hub, shown="git push")
    assert hub.run("deny", asked["id"][:13], "--reason", "use the fork").returncode == 0
    [letter] = hub.client().inbox("ada")
    assert letter["text"] == "Denied: execute_command: git push\nReason: use the fork"


def test_what_was_answered_says_by_whom_and_when(hub: RunningHub) -> None:
    """A second answer is refused by who gave the first and when; `--show` tells the same, and a beginning is enough."""
    first = ask(hub)
    for _ in range(2):
        done = hub.run("approve", first["id"][:13])
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(r"it was approved by owner (less than a|\d+) seconds? ago", done.stderr)
    shown = hub.run("approve", first["id"][:13], "--show").stdout
    assert re.match(
        rf"{first['id'][:8]}: execute_command for ada, approved by owner .* ago\n  {ASKED}\n", shown
    )
    assert hub.json("approve", first["id"], "--show")["answered_by"] == "owner"
    assert hub.run("approve", "show", first["id"][:13]).stdout[:8] == shown[:8]
    assert [hub.run("approve", *words).returncode for words in (["--show"], ["show"], ["a", "b"])] == [
        2,
        2,
        2,
    ]


def test_what_nobody_answered_is_still_told(hub: RunningHub) -> None:
    """A question whose time is over is no more listed for programs, and told to people, to be asked again."""
    missed = ask(hub, patience_seconds=0.01)
    hub.until("approval.expired", lambda each: each["detail"]["approval_id"] == missed["id"])
    listed = hub.run("approve")
    assert listed.stdout == ""
    assert re.match(rf"{missed['id'][:8]}: .*, expired .* ago, ask again\n", listed.stderr)
    assert hub.json("approve") == []
    assert "nobody waits for the answer any more" in hub.run("approve", missed["id"][:8]).stderr


def test_all_of_a_question_is_shown(hub: RunningHub) -> None:
    """At a terminal every word of it stands there, wrapped and not cut, with the time that is left."""
    words = " ".join(f"word{number}" for number in range(60)) + "x" * 300
    asked = ask(hub, shown=words, reason="because " * 40 + "of that")
    screen = at_terminal(hub, "approve", "show", asked["id"][:8])
    assert re.search(rf"{asked['id'][:8]}: execute_command for ada, \d+ seconds left\s+{ASKED}", screen)
    lines = [line.removeprefix("  ") for line in screen.splitlines()]
    assert words.replace(" ", "") in "".join(lines).replace(" ", "")
    assert screen.count("because") == 40
    assert "…" not in screen
    assert max(map(len, screen.splitlines())) <= 80


def test_each_line_of_a_command_is_a_line(hub: RunningHub) -> None:
    """What a person reads has the lines of the command below each other; what a program reads has one line."""
    asked = ask(hub, shown="cd app\nmake\n\nmake publish")
    screen = at_terminal(hub, "approve", "show", asked["id"][:8])
    lines = [line.rstrip() for line in screen.splitlines()]
    at = lines.index("  cd app")
    assert lines[at : at + 5] == ["  cd app", "  make", "", "  make publish", "  in /srv/app"]
    (row,) = [line for line in hub.run("approve").stdout.splitlines() if line.startswith(asked["id"])]
    assert r"cd app\nmake\n\nmake publish" in row
    denied = hub.run("deny", asked["id"]).stdout.splitlines()
    assert len(denied) == 1
    assert denied[0].endswith(r"execute_command: cd app\nmake\n\nmake publish)")


def test_questions_are_answered_one_by_one(hub: RunningHub) -> None:
    """At a terminal each question that waits is shown and takes y or n, or s to leave it; an empty list says so."""
    asked = (ask(hub, shown=words) for words in ("git push", "git fetch", "git gc"))
    first, second, third = sorted(asked, key=itemgetter("created_at", "id"))
    with on_screen(hub, "approve") as screen:
        for question, key in ((first, "y"), (second, "s"), (third, "n")):
            screen.until(question["shown"])
            screen.until("yes or no? [y/n/s, ")
            screen.type(key)
        screen.rest()
    found = {each["id"]: each["status"] for each in hub.client().get("/approvals")["approvals"]}
    assert found == {first["id"]: "approved", second["id"]: "pending", third["id"]: "denied"}
    hub.run("deny", second["id"])
    assert at_terminal(hub, "approve") == "Nothing waits for you.\n"


@pytest.mark.parametrize("end", [lambda screen: screen.type("\x04"), Screen.hang_up], ids=["ctrl-d", "gone"])
def test_the_end_of_the_input_ends_the_questions(hub: RunningHub, end: Callable[[Screen], None]) -> None:
    """Ctrl-D, or a terminal that goes, ends `hubbub approve` at once, and leaves every question open."""
    asked = [ask(hub), ask(hub)]
    with on_screen(hub, "approve") as screen:
        screen.until("yes or no? [y/n/s, ")
        end(screen)
        screen.rest()
    assert {each["id"] for each in hub.json("approve")} == {each["id"] for each in asked}


def test_a_yes_is_signed_with_the_persons_key(hub: RunningHub, tmp_path: Path) -> None:
    """`hubbub node approver` makes the key; from then on each yes for a machine of the project carries a signature."""
    config = {"HUBBUB_CONFIG": str(tmp_path / "config")}
    public = hub.run("node", "approver", **config).stdout.strip()
    assert hub.run("node", "approver", **config).stdout.strip() == public
    machine = {
        "name": "web1",
        "machine_id": "f" * 32,
        "platform": "Linux",
        "version": "1",
        "sandbox": "bwrap",
    }
    hub.client().post("/nodes/join", machine)

    elsewhere, here = ask(hub), ask(hub, node=machine["name"])
    for each in (elsewhere, here):
        done = hub.run("approve", each["id"], **config)
        assert (done.returncode, done.stderr) == (0, "")

    found = {each["id"]: each["signature"] for each in hub.client().get("/approvals")["approvals"]}
    assert found[elsewhere["id"]] is None
    said = statement(
        machine_id=machine["machine_id"],
        approval_id=here["id"],
        **{**{each: here[each] for each in PARTS}, "node": machine["name"]},
    )
    assert found[here["id"]] == sign(tmp_path / "config" / "approver.key", said)


def test_an_agents_token_cannot(hub: RunningHub) -> None:
    """With a token of the project nothing is listed and nothing answered: one sentence says that a person must."""
    asked = ask(hub)
    for role in ("member", "owner"):
        secret = hub.secret("token", "create", "--role", role)
        for command in (["approve"], ["approve", asked["id"]], ["deny", asked["id"]]):
            done = hub.run(*command, "--token", secret)
            assert (done.returncode, done.stdout) == (1, "")
            assert "only a person" in done.stderr
    assert [each["id"] for each in hub.json("approve")] == [asked["id"]]


def test_an_id_has_to_say_which(hub: RunningHub) -> None:
    """Nothing that is asked for by that name is a refusal; where several begin so, nothing is answered."""
    for wrong in ("nonsense", "", "00000000-0000-4000-8000-000000000000", "../tasks"):
        assert hub.run("approve", wrong).returncode in (1, 2)
    ids: list[str] = []
    while len({each[0] for each in ids}) == len(ids):
        ids.append(ask(hub)["id"])
    done = hub.run("approve", ids[-1][0])
    assert done.returncode == 2
    assert "give more of the id" in done.stderr
    assert len(hub.json("approve")) == len(ids)


def test_a_question_is_shown_with_what_else_was_asked(hub: RunningHub) -> None:
    """`approve show` ends with the caller's last questions, each with what came of it."""
    first, second = ask(hub, kind="prompt", shown="git fetch"), ask(hub, kind="prompt")
    hub.run("deny", first["id"])

    shown = hub.run("approve", "show", second["id"]).stdout
    assert shown.partition("asked lately:\n")[2].startswith("  execute_command: git fetch, denied by owner")
