"""The common behaviour of all eight tools."""

import json
import re
from dataclasses import replace

import pytest
from mcp import types

from docs import tokens
from hubbub.dialects.hub import DIALECT
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import Role
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.own_tongue.requirements import requires
from tests.dialects.own_tongue.team import NOWHERE, Team
from tests.dialects.running_hub import Json, call

OUT_OF_RANGE: list[tuple[str, Json, str]] = [
    ("inbox", {"wait": 46}, "wait: must be at most 45"),
    ("inbox", {"wait": -1}, "wait: must be at least 0"),
    ("inbox", {"wait": "5"}, "wait: "),
    ("inbox", {"limit": 0}, "limit: "),
    ("inbox", {"limit": 101}, "limit: "),
    ("inbox", {"ack": ["x" * 129]}, "ack"),
    ("send", {"text": "x" * 65_537, "to": "a"}, "text: "),
    ("send", {"text": "a\0b", "to": "a"}, "text: "),
    ("send", {"text": "x", "to": ""}, "to: "),
    ("send", {"text": "x", "to": "a", "kind": "shout"}, "kind: "),
    ("send", {"text": "x", "kind": "task", "expires_in": 0}, "expires_in: "),
    ("send", {"to": "a"}, "text is missing"),
    ("task", {"action": "dance", "task": "T-1"}, "action: "),
    ("task", {"action": "progress", "task": "T-1", "progress": 101}, "progress: "),
    ("board", {"limit": 101}, "limit: "),
    ("board", {"status": "todo"}, "status: "),
    ("files", {"action": "claim", "paths": [""]}, "paths"),
    ("files", {"action": "claim", "paths": ["../secret"]}, ""),
    ("share", {"action": "post", "name": "x" * 257, "text": ""}, "name: "),
    ("ask", {"machine": "web1", "command": "ls", "timeout": 601}, "timeout: "),
    ("join", {"name": "x" * 201}, "name: "),
    ("join", {"area": "no slug"}, ""),
    ("files", {"action": "claim", "paths": ["x"] * 1_001}, "paths: "),
]


@requires("all.eight")
def test_the_list_is_small(anywhere: Team) -> None:
    """The result of tools/list, as the hub sends it, has eight tools and at most 2,000 tokens."""
    answer = anywhere.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    sent = json.dumps(answer.json()["result"], ensure_ascii=False, separators=(",", ":"))
    tools = types.ListToolsResult.model_validate(answer.json()["result"]).tools

    assert [each.name for each in tools] == [
        "join", "inbox", "send", "task", "board", "files", "share", "ask",
    ]  # fmt: skip
    assert not [each.name for each in tools if each.output_schema is not None]
    assert max(tokens.tokens(sent)) <= 2_000


def test_the_guide_is_short() -> None:
    """An agent's instructions for working here take at most 200 tokens, and explain the text of a wake."""
    assert len(tokens.vocabulary("o200k_base").encode(DIALECT.guide)) <= 200
    assert "Read your hubbub inbox." in DIALECT.guide


@requires("all.ids")
@both_engines
def test_ids_are_short_or_long(team: Team) -> None:
    """A message, a task and an artifact are meant by their numbers, however they are written, and by their long ids."""
    ember = team.joined("ember")
    message, task = team.joined("ada").send(to="ember", text="hello")["id"], team.work(to="ember")
    artifact = ember.share(action="post", name="report", text="all is well")["id"]

    assert (message, task, artifact) == ("M-1", "T-1", "A-1")
    long = str(team.task(task).id)
    for ref in ("T-1", "t-1", "T1", "#1", "1", long, long.upper()):
        assert ember.task(action="show", task=ref)["task"]["id"] == "T-1"
    for ref in ("A-1", "1", "a1"):
        assert ember.share(action="read", artifact=ref)["text"] == "all is well"
    for ref in ("M-1", "1", "T-1"):
        assert ember.inbox(about=ref)["history"] is not None
    for ref in ("T-2", "x", NOWHERE, "T-999999999999999", "-1", "T--1", "T-" + "9" * 90):
        assert ember.wrong("task", action="show", task=ref)["error"] == "not_found", ref
    wrong = ember.wrong("task", action="show", task="M-1")
    assert (wrong["error"], wrong["message"]) == (
        "invalid",
        "'M-1' is a message; give the id of a task, such as T-4",
    )


@requires("all.unread")
def test_every_reply_counts_unread_mail(team: Team) -> None:
    """Whatever an agent calls, it hears of mail that it has not looked at; and no more once it has."""
    ember, ada = team.joined("ember"), team.joined("ada")
    ada.send(to="ember", text="one")
    ada.send(to="ember", text="two")

    for tool, said in (
        ("join", {}), ("board", {}), ("files", {"action": "list"}), ("share", {"action": "list"}),
        ("send", {"to": "ada", "text": "hi"}), ("ask", {}), ("inbox", {"limit": 1}),
    ):  # fmt: skip
        reply = ember.ask(tool, said)[0]
        assert reply["unread"] == (1 if tool == "inbox" else 2), tool
    assert "unread" not in ember.inbox()
    assert "unread" not in ember.board()


@requires("all.unread")
def test_whoever_has_said_who_they_are_hears_of_their_mail(team: Team) -> None:
    """The board counts an agent's mail, whether its connection, its header or its token names it."""
    over, alone, named = team.connection(), team.caller(team.token()), team.caller(team.token())
    over.join(name="rhea")
    alone.join(name="gil")
    named = replace(named, headers={"X-Hubbub-Agent": "zoe"})
    named.join()
    team.joined("ada").send(to="everyone", text="hi")
    assert [each.board()["unread"] for each in (over, alone, named)] == [1, 1, 1]
    assert "unread" not in team.program().board()


@requires("all.refusal")
def test_a_refusal_is_a_code_and_a_sentence(anywhere: Team) -> None:
    """No is said as an error of the tool, with a stable code and one sentence for the model."""
    ember = anywhere.joined("ember")
    assert ember.wrong("nonsense") == {
        "error": "unknown_tool",
        "message": "there is no tool 'nonsense'; tools/list names them",
    }
    assert ember.wrong("tasks")["message"] == "there is no tool 'tasks'; did you mean task?"
    assert ember.wrong("task", action="show", task="T-7") == {
        "error": "not_found",
        "message": "there is no task 'T-7'",
    }
    assert ember.wrong("send", text="x")["message"] == "to is missing: say who gets it, or everyone"


@requires("all.unknown")
def test_a_value_out_of_range_is_refused(anywhere: Team) -> None:
    """Nothing is clamped or guessed: the sentence names the argument, and nothing is done."""
    ember = anywhere.joined("ember")
    with every_row() as row, anywhere.unchanged():
        for tool, said, about in OUT_OF_RANGE:
            with row(tool, str(said)[:60]):
                refused = ember.wrong(tool, **said)
                assert refused["error"] == "invalid"
                assert refused["message"].startswith(about)


@requires("all.meant")
@pytest.mark.parametrize(
    ("tool", "said", "meant"),
    [
        ("task", {"action": "finish", "task": "T-1"}, "complete"),
        ("board", {"status": "done"}, "completed"),
        ("send", {"text": "x", "kind": "broadcst"}, "broadcast"),
    ],
)
def test_the_word_that_was_meant_is_named(team: Team, tool: str, said: Json, meant: str) -> None:
    """A word that an argument does not have is refused with those that it has, and the one that was probably meant."""
    refused = team.joined("ember").wrong(tool, **said)["message"]
    assert re.fullmatch(rf"\w+: must be '.*'; did you mean {meant}\?", refused)


@requires("all.unknown")
def test_a_call_that_reads_ignores_unknown_arguments(anywhere: Team) -> None:
    """A call that changes nothing is answered without it, and `ignored` says so; null is an argument left out."""
    ref = anywhere.work()
    ember = anywhere.joined("ember")
    assert ember.inbox(history="all", wait=None, colour=None) == {"history": []}
    assert ember.board(state="working", to=None)["counts"] == {"queued": 1}
    assert (
        ember.board(state="working")["ignored"] == "state: board has no such argument; did you mean status?"
    )
    assert ember.task(action="show", task=ref, percent=3)["task"]["id"] == ref
    assert ember.files(action="list", file="x")["held"] == []
    assert ember.share(action="list", id="A-9")["artifacts"] == []
    assert "machines" in ember.ask("ask", {"cwd": "/"})[0]
    assert ember.join(colour=None)["you"] == "ember"


@requires("all.meant")
def test_a_call_that_changes_something_takes_no_unknown_argument(anywhere: Team) -> None:
    """Nothing is done to what was not meant: the refusal names the argument that probably was."""
    anywhere.work("the one"), anywhere.work("urgent", priority="critical")
    ember = anywhere.joined("ember")
    calls: dict[str, list[tuple[dict[str, object], str, str]]] = {
        "join": [({"doing": "x", "paths": ["a.py"]}, "paths", "files")],
        "inbox": [
            ({"acks": ["M-1"]}, "acks", "ack"),
            ({"ack": ["all"], "waits": 1}, "waits", "wait"),
            ({"wiat": 3}, "wiat", "wait"),
            ({"akc": ["all"]}, "akc", "ack"),
        ],
        "send": [({"to": "lead", "text": "x", "depends_on": ["T-1"], "kind": "task"}, "depends_on", "needs")],
        "task": [
            ({"action": "claim", "task_id": "T-1"}, "task_id", "task"),
            ({"action": "progress", "task": "T-1", "text": "x", "percent": 3}, "percent", "progress"),
            ({"action": "complete", "task": "T-1", "text": "x", "evidence": "y"}, "evidence", "proof"),
            ({"action": "claim", "task": "T-1", "id": "T-2"}, "id", "task"),
        ],
        "files": [
            ({"action": "claim", "paths": ["a.py"], "repo": "/r"}, "repo", "repository"),
            ({"action": "release", "files": ["a.py"]}, "files", "paths"),
            ({"action": {"claim": 1}, "files": ["a.py"]}, "files", "paths"),
        ],
        "share": [
            ({"action": "post", "name": "n", "text": "x", "task_id": "T-1"}, "task_id", "task"),
            ({"action": ["read"], "task_id": "T-1"}, "task_id", "task"),
        ],
        "ask": [({"host": "web1"}, "host", "machine")],
    }
    with anywhere.unchanged():
        for tool, refused in calls.items():
            for said, strange, likely in refused:
                assert ember.wrong(tool, **said) == {
                    "error": "invalid",
                    "message": f"{strange}: {tool} has no such argument; did you mean {likely}?",
                }
        told = ember.wrong("join", **{"xyzzy" * 99: 1})["message"]
        assert len(told) < 200
        assert told.endswith("its arguments are name, doing, status, area, files")


def test_the_board_takes_the_word_of_the_other_tool_sets(anywhere: Team) -> None:
    """`board` accepts `assignee` for its `to`: it would list everybody's tasks without it; `to` itself goes first."""
    ember, _ada = anywhere.joined("ember"), anywhere.joined("ada")
    mine, others = anywhere.work(to="ember"), anywhere.work("prune the roses", to="ada")
    for said, listed in (({"assignee": "ada"}, others), ({"assignee": "ada", "to": "ember"}, mine)):
        assert [each["id"] for each in ember.board(**said)["tasks"]] == [listed]
    assert "ignored" not in ember.board(assignee="ada")


@requires("all.meant")
def test_a_task_is_named_as_replies_name_it(team: Team) -> None:
    """The `id` of `send` and `board` is accepted as the task of a call, and that task is claimed."""
    team.work("the one"), team.work("urgent", priority="critical")
    ember = team.joined("ember")
    assert ember.task(action="claim", id="T-1")["id"] == "T-1"
    assert ember.task(action="show", id="T-2")["task"]["status"] == "queued"


@requires("all.name")
def test_who_calls(team: Team) -> None:
    """A bound token is its agent; a connection is whoever joined over it; a header names one where nothing is kept."""
    assert team.agent("ember").join()["you"] == "ember"
    over = team.connection()
    assert over.join(name="rhea")["you"] == "rhea"
    assert over.send(to="ember", text="hi")["id"] == "M-1"
    named = call("send", to="ember", text="hi")
    team.post(named, team.token(), **{"X-Hubbub-Agent": "gil"})
    assert [each["from"] for each in team.mail("ember")] == ["rhea", "gil"]


@requires("all.name")
def test_a_token_with_one_stay_is_that_agent(team: Team) -> None:
    """Over a connection that keeps nothing, a token of its own is whoever joined by it; of two nobody knows which."""
    secret = team.token()
    alone = team.caller(secret)
    alone.join(name="ada")
    assert alone.join()["you"] == "ada"
    assert alone.join(name="bob")["you"] == "bob"
    assert alone.wrong("inbox")["error"] == "invalid"


@requires("all.name")
def test_a_bound_token_is_nobody_else(anywhere: Team) -> None:
    """A name in the arguments or in the header never goes beyond what the token may be."""
    ember = anywhere.joined("ember")
    refused = ember.wrong("join", name="ada")
    assert refused == {"error": "wrong_identity", "message": "this token acts as 'ember' only, not as 'ada'"}
    answer = anywhere.post(call("inbox"), ember.secret, **{"X-Hubbub-Agent": "ada"}).json()["result"]
    assert answer["structuredContent"] == {"letters": []}


@requires("all.nameless")
def test_nobody_is_refused(anywhere: Team) -> None:
    """A token that is bound to nobody has to say who it is, and is told how."""
    said: dict[str, Json] = {
        "inbox": {"wait": 0},
        "send": {"to": "a", "text": "x"},
        "task": {"action": "claim"},
        "ask": {"machine": "box"},
    }
    nobody = anywhere.program()
    with every_row() as row, anywhere.unchanged():
        for tool in ("join", "inbox", "send", "task", "files", "share", "ask"):
            with row(tool):
                refused = nobody.wrong(tool, **said.get(tool, {"action": "list"}))
                assert refused["error"] == "invalid"
                assert "join" in refused["message"]


@requires("all.key")
@both_engines
def test_a_key_makes_it_once(team: Team) -> None:
    """A repeated call gets the first answer and changes nothing; another call with the same key is a conflict."""
    ada = team.joined("ada")
    team.joined("ember")
    first = ada.send(to="ember", text="hi", key="k")
    with team.unchanged():
        assert ada.send(to="ember", text="hi", key="k") == first
        assert ada.wrong("send", to="ember", text="ho", key="k")["error"] == "conflict"
    assert team.work(key="t", by="ada") == team.work(key="t", by="ada") == "T-1"


@both_engines
def test_agents_that_share_a_token_share_no_keys(team: Team) -> None:
    """A key is also its agent's own: what another did by the same token and key is neither told nor in the way."""
    team.joined("ember")
    shared = team.token()
    said = call("send", to="ember", text="done", key="k")
    for _ in range(2):
        for name in ("ann", "bob"):
            team.post(said, shared, **{"X-Hubbub-Agent": name})
    assert [letter["from"] for letter in team.mail("ember")] == ["ann", "bob"]


def test_agents_that_share_a_token_over_no_connection(team: Team) -> None:
    """Where nothing keeps a name, the second who joins by a token hears so, and a call says that several use it."""
    shared = team.token()

    def told(tool: str, **said: object) -> Json:
        answer: Json = team.post(call(tool, **said), shared).json()["result"]["structuredContent"]
        return answer

    assert "note" not in told("join", name="uno")
    assert told("join", name="dos")["note"].startswith("your name does not hold: others use this token, ")
    assert told("inbox")["message"] == (
        "2 agents use this token, so that it does not tell which of them you are; send your name as the header "
        "X-Hubbub-Agent, or use a token of your own: hubbub token create --agent NAME"
    )


def test_a_tool_that_the_address_leaves_out(team: Team) -> None:
    """A tool that there is, but that the address does not name, is not said to be unknown."""
    secret = team.token("ember")
    answer = team.post(call("join"), secret, path="/mcp/hub?tools=inbox").json()["result"]
    assert answer["structuredContent"]["message"] == (
        "the tool 'join' is not among those that the address names with ?tools="
    )


def test_a_name_in_any_script_fits_into_the_header(team: Team) -> None:
    """A name that no header can hold comes in base64, as MCP writes such; nonsense there is refused in one sentence."""
    told = team.post(call("join"), team.token(), **{"X-Hubbub-Agent": "=?base64?5a6J?="}).json()["result"]
    assert told["structuredContent"]["you"] == "安"
    for nonsense in ("=?base64?*?=", "=?base64?/w==?=", "=?base64?AAA=?=", "=?base64??="):
        told = team.post(call("join"), team.token(), **{"X-Hubbub-Agent": nonsense}).json()["result"]
        assert told["isError"] is True
        assert "must be base64 of UTF-8 text" in told["structuredContent"]["message"]


@requires("all.roles")
def test_a_viewer_looks_on(anywhere: Team) -> None:
    """A viewer sees everything, by whatever name, leaves no trace, and is refused everywhere else."""
    ref = anywhere.work()
    lead = anywhere.agent("lead")
    lead.share(action="post", name="plan", text="x")
    lead.share(action="remember", name="port", text="80", of="project")
    lead.files(action="claim", paths=["a.py"])
    lead.send(to="everyone", text="hi")
    for viewer in (anywhere.agent("eve", Role.VIEWER), anywhere.program(Role.VIEWER)):
        with anywhere.unchanged():
            assert [each["id"] for each in viewer.board()["tasks"]] == ["T-1"]
            assert [each["text"] for each in viewer.inbox(history="all")["history"]] == ["hi"]
            assert viewer.inbox(about=ref) == {"history": []}
            assert viewer.task(action="show", task=ref)["task"]["id"] == ref
            assert viewer.files(action="list")["held"][0]["agent"] == "lead"
            assert viewer.files(action="check", paths=["a.py"])["is_free"] is False
            assert viewer.share(action="list")["artifacts"][0]["id"] == "A-1"
            assert viewer.share(action="read", name="plan")["text"] == "x"
            assert viewer.share(action="recall", name="port", of="project")["text"] == "80"
    for tool, said in (("join", {}), ("inbox", {}), ("send", {"to": "lead", "text": "x"})):
        assert viewer.wrong(tool, **said)["error"] == "forbidden"


def test_every_status_is_a_word_of_the_board() -> None:
    """Whatever a task is, the board can be asked for it."""
    words = set(DIALECT.tools["board"].schema["properties"]["status"]["enum"])  # type: ignore[index]
    assert words == {*map(str, Status), "open", "ended"}
