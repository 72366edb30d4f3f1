"""The REST that GolemXV's own clients call, through real HTTP."""

from collections.abc import Mapping
from datetime import timedelta
from itertools import product
from typing import Any

import httpx2

from hubbub.model.people.rights import Role
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.golemxv.callers import EXPIRED, GONE, NOWHERE, REST, Crew
from tests.dialects.golemxv.requirements import requires
from tests.dialects.running_hub import NO_TLS, Json
from tests.support.waiting import patience

PATHS = [
    "/checkin", "/heartbeat", "/scope", "/checkout", "/messages", "/tasks/claim", "/tasks/1/status",
]  # fmt: skip


class Client:
    """A client of the REST alone, as it sends its headers: X-API-Key and X-Session-Token."""

    def __init__(self, crew: Crew, secret: str | None, session: str | None = None) -> None:
        self.url = crew.hub.url + REST
        given = {"X-API-Key": secret, "X-Session-Token": session}
        self.headers = {name: value for name, value in given.items() if value is not None}

    def post(
        self, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        content: Any = {"content": body} if isinstance(body, bytes) else {"json": body or {}}
        return httpx2.post(
            self.url + path,
            headers={"Content-Type": "application/json", **self.headers, **(headers or {})},
            timeout=patience(),
            verify=NO_TLS,
            **content,
        )

    def do(self, path: str, /, **body: object) -> Json:
        """The answer to a call that succeeds."""
        answer = self.post(path, body)
        assert answer.status_code == 200, answer.text
        content: Json = answer.json()
        return content

    def no(self, code: int, path: str, /, **body: object) -> str:
        """The sentence of a call that is refused with that status."""
        answer = self.post(path, body)
        assert answer.status_code == code, answer.text
        content: Json = answer.json()
        assert content == {"error": content["error"]}
        return str(content["error"])


def _client(crew: Crew, name: str | None = None, **scope: object) -> Client:
    """A client with a token of its own, that has checked in if it has a name."""
    secret = crew.token()
    if name is None:
        return Client(crew, secret)
    told = Client(crew, secret).do("/checkin", project_slug=crew.slug, agent_name=name, **scope)
    return Client(crew, secret, told["session_token"])


@requires("rest.same", "rest.status", "rest.key", "rest.session")
def test_a_whole_day_over_rest(crew: Crew) -> None:
    """Each endpoint takes the tool's arguments and gives the tool's result."""
    crew.area("backend", "app/**")
    first, second = crew.task("first", area="backend"), crew.task("second")
    secret = crew.token()
    told = Client(crew, secret).do(
        "/checkin", project_slug=crew.slug, agent_name="ann", declared_area="backend", declared_files=["a"]
    )
    assert (told["agent_name"], told["conflicts"], told["project"]["slug"]) == ("ann", [], crew.slug)
    ann = Client(crew, secret, told["session_token"])

    assert ann.do("/heartbeat")["ok"] is True
    assert ann.do("/scope", declared_files=["b"]) == {
        "ok": True,
        "declared_area": "backend",
        "declared_files": ["b"],
        "conflicts": [],
    }
    assert ann.do("/messages", to="broadcast", content="c", type="status") == {"sent": True, "id": 1}
    claimed = ann.do("/tasks/claim", task_id=first)
    assert (claimed["claimed"], claimed["task"]["work_area_paths"]) == (True, ["app/**"])
    for status in ("in_progress", "blocked", "in_progress"):
        assert ann.do(f"/tasks/{first}/status", status=status, reason="r") == {
            "updated": True,
            "task": {"id": first, "title": "first", "status": status},
        }
    assert ann.do(f"/tasks/{first}/status", status="completed", result_summary="s", files_changed=["a"]) == {
        "completed": True,
        "task": {"id": first, "title": "first"},
    }
    ann.do("/tasks/claim", task_id=second)
    assert ann.do(f"/tasks/{second}/status", status="failed", reason="r")["task"]["status"] == "failed"
    crew.later(seconds=7)
    assert ann.do("/checkout", outcome_status="success", work_summary="w", files_touched=["a"]) == {
        "ok": True,
        "duration_seconds": 7,
    }
    assert (crew.kept(first).result, crew.kept(first).files) == ("s", ("a",))
    assert crew.stays()[0]["outcome_status"] == "success"


@requires("rest.key", "rest.session")
def test_the_tokens_may_come_otherwise(crew: Crew) -> None:
    """The hub token may be a bearer token, and the presence may be in the body, which goes before the header."""
    ann, bob = _client(crew, "ann"), _client(crew, "bob")
    key = {"Authorization": f"Bearer {ann.headers['X-API-Key']}"}
    nobody = Client(crew, None)

    by_body = {"to": "hub", "content": "c", "session_token": ann.headers["X-Session-Token"]}
    assert nobody.post("/messages", by_body, key).status_code == 200
    by_header = {**key, "X-Session-Token": ann.headers["X-Session-Token"]}
    assert nobody.post("/messages", {"to": "hub", "content": "c"}, by_header).status_code == 200
    assert bob.post("/messages", by_body).status_code == 200
    assert [row["from"] for row in crew.messages()] == ["ann"] * 3


@requires("rest.key")
def test_the_api_key_is_for_this_rest_only(anywhere: Crew) -> None:
    """Elsewhere on the hub an X-API-Key is no token."""
    headers = {"X-API-Key": anywhere.token()}

    for path in ("/api/v1/tasks", "/events", "/mcp/golemxv"):
        answer = httpx2.get(anywhere.hub.url + path, headers=headers, timeout=patience(), verify=NO_TLS)
        assert answer.status_code == 401, path


@requires("rest.401", "envelope.clean")
def test_without_a_token_there_is_nothing(crew: Crew) -> None:
    """No token, a wrong one, or one that was revoked or has run out: 401, and nothing is done."""
    revoked, expired = crew.token(), crew.token(ttl=timedelta(minutes=1))
    crew.revoke(revoked)
    crew.later(minutes=1)
    secrets = {"none": None, "empty": "", "wrong": "ntok_wrong", "revoked": revoked, "expired": expired}

    with crew.unchanged(), every_row() as row:
        for path, (kind, secret) in product(PATHS, secrets.items()):
            with row(path, kind):
                answer = Client(crew, secret, NOWHERE).post(path, {"project_slug": crew.slug})
                assert answer.status_code == 401


@requires("rest.400", "envelope.clean")
def test_what_is_wrong_is_a_400(crew: Crew) -> None:
    """Arguments that are missing, of another type or out of range, and no presence to mean, are 400 and name it."""
    crew.task()
    ann, nobody = _client(crew, "ann"), _client(crew)

    with crew.unchanged():
        assert "agent_name" in nobody.no(400, "/checkin", agent_name="n" * 201)
        assert "declared_files" in ann.no(400, "/scope", declared_files="a")
        assert "declared_files" in ann.no(400, "/scope", declared_files=["a"] * 1001)
        assert ann.no(400, "/scope", declared_files=["../a"])
        assert "outcome_status" in ann.no(400, "/checkout", outcome_status="fine")
        assert "content" in ann.no(400, "/messages", to="ann")
        assert "type" in ann.no(400, "/messages", to="ann", content="c", type="reply")
        assert "task_id" in ann.no(400, "/tasks/claim")
        assert "task_id" in ann.no(400, "/tasks/claim", task_id="1")
        assert "task_id" in ann.no(400, "/tasks/0/status", status="failed")
        assert "task_id" in ann.no(400, f"/tasks/{'9' * 40}/status", status="failed")
        for status in ("pending", "cancelled", "done", "", 1, None):
            assert (
                ann.no(400, "/tasks/1/status", status=status)
                == "status: must be one of in_progress, blocked, failed, completed"
            )
        assert "result_summary" in ann.no(400, "/tasks/1/status", status="completed")
        assert "GXV_SESSION_TOKEN" in nobody.no(400, "/heartbeat")


@requires("rest.400", "envelope.clean")
def test_a_body_is_a_json_object(anywhere: Crew) -> None:
    """A body that is no JSON, or no object, is 400, in GolemXV's words."""
    client = _client(anywhere)

    with anywhere.unchanged(), every_row() as row:
        for path, body in product(PATHS, (b"{", b"[]", b'"x"', b"1", b"\xff", b"[" * 5000)):
            with row(path, body[:4]):
                answer = client.post(path, body)
                assert answer.status_code == 400
                assert [*answer.json()] == ["error"]


@requires("rest.status")
def test_the_address_names_the_task(crew: Crew) -> None:
    """A task_id in the body does not go before the one in the address."""
    first, second = crew.task(), crew.task()
    ann = _client(crew, "ann")
    ann.do("/tasks/claim", task_id=first)

    ann.do(f"/tasks/{first}/status", status="blocked", task_id=second)

    assert [crew.row(number)["status"] for number in (first, second)] == ["blocked", "pending"]


@requires("rest.403", "tokens.viewer", "tokens.bound", "envelope.clean")
def test_what_is_not_allowed_is_a_403(crew: Crew) -> None:
    """A viewer writes nothing, and a token bound to an agent is no other: 403."""
    crew.task()
    ann = _client(crew, "ann")
    session = ann.headers["X-Session-Token"]
    viewer = Client(crew, crew.token(role=Role.VIEWER))
    bob = Client(crew, crew.token("bob"))

    with crew.unchanged():
        assert "viewer" in viewer.no(403, "/checkin", agent_name="ann")
        for path, body in (
            ("/heartbeat", {}),
            ("/scope", {"declared_files": ["a"]}),
            ("/checkout", {}),
            ("/messages", {"to": "hub", "content": "c"}),
            ("/tasks/claim", {"task_id": 1}),
            ("/tasks/1/status", {"status": "failed"}),
        ):
            assert viewer.no(403, path, **body)
            assert viewer.no(403, path, **body, session_token=session)
            assert "'bob'" in bob.no(403, path, **body, session_token=session)
        assert "'bob'" in bob.no(403, "/checkin", agent_name="ann")


@requires("rest.404", "envelope.clean")
def test_what_is_unknown_is_a_404(crew: Crew, elsewhere: Crew) -> None:
    """A project, presence, agent or task that is not there, or is of another project, is 404."""
    elsewhere.task()
    ann = _client(crew, "ann")
    theirs = _client(elsewhere, "ann").headers["X-Session-Token"]

    with crew.unchanged(), elsewhere.unchanged():
        for slug in ("nowhere", elsewhere.slug):
            assert ann.no(404, "/checkin", project_slug=slug) == "Project not found"
        for session in (NOWHERE, theirs):
            assert ann.no(404, "/heartbeat", session_token=session) == EXPIRED
        assert "'nobody'" in ann.no(404, "/messages", to="nobody", content="c")
        assert ann.no(404, "/tasks/claim", task_id=1) == "Task not found"
        assert ann.no(404, "/tasks/1/status", status="failed") == "Task not found"
    assert ann.post("/nowhere").status_code == 404
    assert ann.post("/tasks/one/status").status_code == 404


@requires("rest.409", "claim_task.gone", "claim_task.unmet", "envelope.clean")
@both_engines
def test_what_was_lost_is_a_409(crew: Crew) -> None:
    """A lost claim, a task that waits or is over, and a name that is taken are 409; what is another's is 403."""
    number = crew.task()
    waiting = crew.task(needs=[number])
    ann, bob = _client(crew, "ann"), _client(crew, "bob")
    ann.do("/tasks/claim", task_id=number)

    with crew.unchanged():
        assert bob.no(409, "/tasks/claim", task_id=number) == GONE
        assert bob.no(409, "/tasks/claim", task_id=waiting).startswith(f"{GONE}: ")
        assert "'ann'" in bob.no(403, f"/tasks/{number}/status", status="failed")
        assert "'ann'" in bob.no(403, f"/tasks/{number}/status", status="completed", result_summary="s")
        assert "'ann'" in bob.no(409, "/checkin", agent_name="ann")
    ann.do(f"/tasks/{number}/status", status="completed", result_summary="s")
    with crew.unchanged():
        error = ann.no(409, f"/tasks/{number}/status", status="in_progress")
        assert "completed" in error
        assert "in_progress" in error


@requires("rest.409", "conflicts.block", "envelope.clean")
@both_engines
def test_a_conflict_is_a_409_that_names_it(crew: Crew) -> None:
    """In a project that blocks overlaps an overlapping checkin or scope is 409, with error and conflicts."""
    with Crew.made(crew.hub, conflict_mode="block") as blocking:
        _client(blocking, "ann", declared_files=["a"])
        bob, member = _client(blocking, "bob"), _client(blocking)

        with blocking.unchanged():
            for client, path in ((bob, "/scope"), (member, "/checkin")):
                answer = client.post(path, {"declared_files": ["a"]})
                assert answer.status_code == 409
                assert answer.json()["conflicts"] == [
                    {"agent_name": "ann", "overlapping_areas": [], "overlapping_files": ["a"]}
                ]
                assert sorted(answer.json()) == ["conflicts", "error"]


@requires("rest.409", "claim_task.once")
@both_engines
def test_of_those_who_claim_over_rest_and_mcp_one_wins(crew: Crew) -> None:
    """A claim over REST and one by the tool at the same moment have one winner."""
    ann, bob = _client(crew, "ann"), crew.checkin("bob")
    for _ in range(5):
        number = crew.task()
        claim = bob.soon("claim_task", task_id=number)
        status = ann.post("/tasks/claim", {"task_id": number}).status_code

        assert ("claimed" in claim()) is (status == 409)
        assert crew.row(number)["assigned"] == ("bob" if status == 409 else "ann")


@requires("envelope.repeated", "rest.same")
def test_a_post_that_is_repeated_happens_once(crew: Crew) -> None:
    """Under the same Idempotency-Key a message is sent once, and answered alike."""
    ann = _client(crew, "ann")

    answers = [ann.post("/messages", {"to": "hub", "content": "c"}, {"Idempotency-Key": "k"}) for _ in "12"]

    assert [answer.json() for answer in answers] == [{"sent": True, "id": 1}] * 2
    assert len(crew.messages()) == 1


@requires("rest.same")
def test_the_addresses_take_posts_only(anywhere: Crew) -> None:
    """A GET is answered by 405."""
    headers = {"X-API-Key": anywhere.token()}

    with every_row() as row:
        for path in PATHS:
            with row(path):
                address = anywhere.hub.url + REST + path
                answer = httpx2.get(address, headers=headers, timeout=patience(), verify=NO_TLS)
                assert answer.status_code == 405
