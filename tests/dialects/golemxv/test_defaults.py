"""The defaults of a call's project and presence, when its arguments do not name them."""

from collections.abc import Mapping
from itertools import product

from hubbub.model.people.rights import Role
from tests.dialects.every_row import every_row
from tests.dialects.golemxv.callers import EXPIRED, NOWHERE, Crew, no, token
from tests.dialects.golemxv.requirements import requires
from tests.dialects.running_hub import Caller, Json

PROJECT, SESSION = "X-GXV-Project", "X-GXV-Session"
OF_PROJECT = [
    "presence",
    "conflict_check",
    "activity_log",
    "sessions",
    "project_info",
    "list_tasks",
    "get_messages",
]
OF_SESSION = ["heartbeat", "scope_update", "checkout"]


def _bare(crew: Crew, secret: str, headers: Mapping[str, str] | None = None) -> Caller:
    """Return a caller whose calls name neither project nor presence."""
    return crew.with_headers(crew.caller(secret), headers or {})


@requires("defaults.project.token", "all.required")
def test_a_token_of_one_project_need_not_name_it(anywhere: Crew) -> None:
    """Without argument and header it is the token's own project, also where the schema requires the argument."""
    viewer = _bare(anywhere, anywhere.token(role=Role.VIEWER))

    with every_row() as row:
        for tool in OF_PROJECT:
            answer, is_error = viewer.ask(tool, {})
            with row(tool):
                assert not is_error, answer


@requires("defaults.project.token")
def test_a_checkin_need_not_name_its_project(crew: Crew) -> None:
    """A checkin without a project is one to the token's own."""
    assert _bare(crew, crew.token()).checkin()["project"]["slug"] == crew.slug


@requires("defaults.project.argument", "defaults.project.header", "tokens.person")
def test_the_argument_goes_before_the_header(crew: Crew, elsewhere: Crew) -> None:
    """The argument names a person's project, else X-GXV-Project does."""
    person = crew.person((crew.project, Role.MEMBER), (elsewhere.project, Role.MEMBER))
    told = crew.with_headers(person, {PROJECT: crew.slug})

    assert told.project_info()["project"]["slug"] == crew.slug
    assert told.project_info(project_slug=elsewhere.slug)["project"]["slug"] == elsewhere.slug
    assert told.checkin(agent_name="ann")["project"]["slug"] == crew.slug
    assert told.checkin(agent_name="bob", project_slug=elsewhere.slug)["project"]["slug"] == elsewhere.slug
    assert (crew.here(), elsewhere.here()) == (["ann"], ["bob"])


@requires("defaults.project.header", "checkin.unknown")
def test_a_header_that_names_a_foreign_project_is_refused(crew: Crew, elsewhere: Crew) -> None:
    """A header with the name of a project that is not the token's is refused as an argument is."""
    caller = _bare(crew, crew.token(), {PROJECT: elsewhere.slug})

    with crew.unchanged(), elsewhere.unchanged(), every_row() as row:
        for tool in (*OF_PROJECT, "checkin"):
            with row(tool):
                assert no(caller, tool) == "Project not found"


@requires("defaults.project.none", "tokens.person", "envelope.clean")
def test_a_person_of_several_must_say_which(crew: Crew, elsewhere: Crew) -> None:
    """Where nothing tells the project the error names project_slug and GXV_PROJECT_SLUG, and nothing is done."""
    person = crew.person((crew.project, Role.MEMBER), (elsewhere.project, Role.MEMBER))
    caller = _bare(crew, person.secret)

    with crew.unchanged(), elsewhere.unchanged(), every_row() as row:
        for tool in (*OF_PROJECT, "checkin"):
            with row(tool):
                error = no(caller, tool)
                assert "project_slug" in error
                assert "GXV_PROJECT_SLUG" in error


@requires("defaults.project.token", "tokens.person")
def test_a_person_of_one_project_need_not_say_which(crew: Crew) -> None:
    """A person who is in one project only is meant to be there."""
    person = crew.person((crew.project, Role.MEMBER))

    assert _bare(crew, person.secret).project_info()["project"]["slug"] == crew.slug


@requires("defaults.token.argument", "defaults.token.header", "defaults.token.only")
def test_the_argument_goes_before_the_header_and_that_before_the_only_one(crew: Crew) -> None:
    """The sender is the presence of the argument, else of X-GXV-Session, else the only one of the token."""
    ann, bob, cyd = (crew.checkin(name) for name in ("ann", "bob", "cyd"))
    headers = {SESSION: token(bob)}

    for caller, arguments in (
        (_bare(crew, cyd.secret, headers), {"session_token": token(ann)}),
        (_bare(crew, cyd.secret, headers), {}),
        (_bare(crew, cyd.secret), {}),
    ):
        caller.send_message(to="hub", content="c", **arguments)

    assert [row["from"] for row in crew.messages()] == ["cyd", "bob", "ann"]


@requires("defaults.token.only", "all.required")
def test_the_only_presence_need_not_be_named(anywhere: Crew) -> None:
    """A bearer token that has opened one presence means that one, also where the schema requires the argument."""
    caller = _bare(anywhere, anywhere.token())
    caller.checkin(agent_name="ann")
    anywhere.checkin("bob")

    with every_row() as row:
        for tool in OF_SESSION:
            with row(tool):
                assert caller.ask(tool, {})[0]["ok"] is True


@requires("defaults.token.only", "heartbeat.gone")
def test_what_is_over_does_not_count(crew: Crew) -> None:
    """Only the live presence of a token counts; one opened by CommHub does not."""
    caller = _bare(crew, crew.token())
    first = caller.checkin(agent_name="ann")
    caller.checkin(agent_name="bob")
    caller.checkout(session_token=first["session_token"])
    crew.fleet.caller(caller.secret).report_status(resume_id="r", alias="coder", status="idle")

    assert caller.heartbeat()["ok"] is True
    caller.send_message(to="hub", content="c")
    assert [row["from"] for row in crew.messages()] == ["bob"]


@requires("defaults.token.several", "envelope.clean")
def test_without_one_presence_it_must_be_named(crew: Crew) -> None:
    """Where nothing tells the presence the error names session_token and GXV_SESSION_TOKEN, and nothing is done."""
    callers = {"none": _bare(crew, crew.token()), "several": _bare(crew, crew.token())}
    for name in ("ann", "bob"):
        callers["several"].checkin(agent_name=name)
    calls: dict[str, Json] = {
        **{tool: {} for tool in OF_SESSION},
        "send_message": {"to": "hub", "content": "c"},
        "claim_task": {"task_id": 1},
        "update_task": {"task_id": 1, "status": "failed"},
        "complete_task": {"task_id": 1, "result_summary": "s"},
    }

    with crew.unchanged(), every_row() as row:
        for (present, caller), (tool, arguments) in product(callers.items(), calls.items()):
            with row(present, tool):
                error = no(caller, tool, **arguments)
                assert "session_token" in error
                assert "GXV_SESSION_TOKEN" in error


@requires("defaults.token.only", "tokens.person")
def test_a_persons_only_presence_need_not_be_named(crew: Crew, elsewhere: Crew) -> None:
    """A member of several projects who is present in one need name neither presence nor project."""
    person = crew.person((crew.project, Role.MEMBER), (elsewhere.project, Role.MEMBER))
    caller = _bare(crew, person.secret)
    caller.checkin(agent_name="ann", project_slug=elsewhere.slug)

    assert caller.heartbeat()["ok"] is True
    assert caller.send_message(to="ann", content="c")["id"] == 1
    assert [row["from"] for row in elsewhere.messages()] == ["ann"]
    both = caller.checkin(agent_name="ann", project_slug=crew.slug)
    assert "session_token" in no(caller, "heartbeat")
    assert crew.with_headers(caller, {PROJECT: elsewhere.slug}).heartbeat()["ok"] is True
    assert caller.heartbeat(session_token=both["session_token"])["ok"] is True


@requires("defaults.token.argument", "defaults.project.header")
def test_a_presence_tells_its_project(crew: Crew, elsewhere: Crew) -> None:
    """A session_token acts in the project where it was given, whatever project is usual for the caller."""
    person = crew.person((crew.project, Role.MEMBER), (elsewhere.project, Role.MEMBER))
    caller = crew.with_headers(person, {PROJECT: crew.slug})
    there = caller.checkin(agent_name="ann", project_slug=elsewhere.slug)["session_token"]
    number = elsewhere.task()

    assert caller.heartbeat(session_token=there)["ok"] is True
    assert caller.claim_task(session_token=there, task_id=number)["claimed"] is True
    assert caller.update_task(session_token=there, task_id=number, status="blocked")["updated"] is True
    assert caller.complete_task(session_token=there, task_id=number, result_summary="s")["completed"] is True
    assert no(caller, "claim_task", session_token=there, task_id=1, project_slug=crew.slug) == EXPIRED
    assert caller.checkout(session_token=there)["ok"] is True


@requires("defaults.token.header", "heartbeat.gone", "envelope.clean")
def test_a_header_that_is_over_is_not_passed_over(crew: Crew) -> None:
    """A header with a token that is over is refused, though the bearer token has a live presence."""
    ann = crew.checkin("ann")

    with crew.unchanged():
        assert no(_bare(crew, ann.secret, {SESSION: NOWHERE}), "heartbeat") == EXPIRED


@requires("defaults.token.header", "defaults.project.header")
def test_an_empty_header_is_none(crew: Crew) -> None:
    """Headers without a value count as if they were not there."""
    ann = crew.checkin("ann")

    assert _bare(crew, ann.secret, {SESSION: "", PROJECT: ""}).heartbeat()["ok"] is True
