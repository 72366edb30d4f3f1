"""Comments on GitHub: once each, whatever goes wrong on the way."""

from datetime import timedelta

import pytest

from hubbub.model.log.outbox_items import LONGEST_WAIT, DeliveryOutcome
from hubbub.serve.outbox import github_comments as courier
from hubbub.serve.outbox import runner
from hubbub.store.engine.sqlite import SQLite
from tests.conftest import MovableClock
from tests.serve.outbox.outbox_desk import TOKEN, Desk
from tests.serve.outbox.receivers import CUTS, HANGS, Answer, FakeGitHub

pytestmark = pytest.mark.anyio


@pytest.fixture
def issues(sqlite_store: SQLite, github: FakeGitHub) -> Desk:
    """A project whose comments go to the fake GitHub; test_runner tries the outbox on either engine."""
    return Desk(sqlite_store, github)


async def test_a_result_becomes_a_comment(issues: Desk, github: FakeGitHub) -> None:
    """The text of a completed task is posted to the issue with the token, once; the log says so, not the token."""
    async with issues.delivering():
        task = issues.complete("it has 3 lines")
        told = await issues.until("outbox.delivered")
    (call,) = github.received
    assert (call.method, call.path) == ("POST", "/repos/octo/parser/issues/7/comments")
    assert call.headers["Authorization"] == f"Bearer {TOKEN}"
    assert "it has 3 lines" in call.json["body"]
    assert call.json["body"].startswith(f"<!-- hubbub task {task.id} ")
    assert (told.task_id, told.detail["target"], told.detail["status"]) == (task.id, "octo/parser#7", 201)
    assert TOKEN not in str(issues.log("outbox.delivered"))


async def test_without_a_token_it_is_skipped(issues: Desk, github: FakeGitHub) -> None:
    """A hub without a token asks GitHub nothing, and the log says that it is the token that is missing."""
    async with issues.delivering(token=None):
        issues.complete()
        told = await issues.until("outbox.skipped")
    assert "HUBBUB_GITHUB_TOKEN" in str(told.detail["reason"])
    assert github.received == []
    assert [parcel.outcome for parcel in issues.parcels()] == [DeliveryOutcome.SKIPPED]


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_a_broken_server_is_asked_again(issues: Desk, github: FakeGitHub, status: int) -> None:
    """After an error of the server, which may have done it all the same, the comments are searched before posting."""
    github.script += [Answer(status), Answer(status)]
    async with issues.delivering():
        issues.complete()
        await issues.until("outbox.delivered")
    assert github.calls == ["POST", "GET", "GET", "POST"]
    assert len(github.comments) == 1
    assert [each.detail["status"] for each in issues.log("outbox.failed")] == [status, status]


@pytest.mark.parametrize("status", [404, 405, 501])
async def test_where_comments_cannot_be_listed_it_is_posted_again(
    issues: Desk, github: FakeGitHub, status: int
) -> None:
    """A server that knows no list of comments gets the comment all the same."""
    github.script += [Answer(500), Answer(status)]
    async with issues.delivering():
        issues.complete()
        await issues.until("outbox.delivered")
    assert github.calls == ["POST", "GET", "POST"]
    assert len(github.comments) == 1


async def test_a_lost_answer_makes_no_second_comment(issues: Desk, github: FakeGitHub) -> None:
    """Where the connection is cut after the comment was made, it is found, and counts as delivered."""
    github.script += [CUTS]
    async with issues.delivering():
        issues.complete()
        told = await issues.until("outbox.delivered")
    assert github.calls == ["POST", "GET"]
    assert len(github.comments) == 1
    assert told.detail["attempt"] == 2
    (failed,) = issues.log("outbox.failed")
    assert failed.detail["reason"] == "the connection was lost before it answered"


async def test_a_comment_is_found_among_many(
    issues: Desk, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search goes through the pages of comments that were made since, as far as there are any."""
    monkeypatch.setattr(courier, "PAGE", 2)
    github.comments += ["first", "second", "third"]
    github.script += [CUTS]
    async with issues.delivering():
        issues.complete()
        await issues.until("outbox.delivered")
    assert github.calls == ["POST", "GET", "GET"]
    assert len(github.comments) == 4
    assert "since=" in github.received[-1].path


async def test_a_silent_server_is_given_up_and_asked_again(
    issues: Desk, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attempt does not take longer than it may; what came of it is in doubt until the comments were searched."""
    monkeypatch.setattr(runner, "ATTEMPT", timedelta(milliseconds=200))
    github.script += [HANGS]
    async with issues.delivering():
        issues.complete()
        await issues.until("outbox.failed")
        monkeypatch.undo()
        await issues.until("outbox.delivered")
    assert len(github.comments) == 1
    assert "GET" in github.calls


async def test_doubt_stays_while_it_cannot_be_resolved(issues: Desk, github: FakeGitHub) -> None:
    """If the search fails nothing is posted: another attempt searches again."""
    github.script += [CUTS, Answer(503), Answer(429), Answer(body=b"<html>")]
    async with issues.delivering():
        issues.complete()
        await issues.until("outbox.failed", 3)
        issues.do(lambda tx: tx.run("UPDATE outbox SET next_at = 0"))  # the limit is over
        issues.happen("task.sent")
        await issues.until("outbox.delivered")
    assert set(github.calls[1:]) == {"GET"}
    assert len(github.comments) == 1


@pytest.mark.parametrize(
    ("answer", "wait"),
    [
        (Answer(429, {"Retry-After": "30"}), timedelta(seconds=30)),
        (Answer(403, {"Retry-After": "30"}), timedelta(seconds=30)),
        (Answer(403, body=b'{"message": "You have exceeded a secondary rate limit"}'), timedelta(minutes=1)),
        (Answer(429), timedelta(minutes=1)),
        (Answer(429, {"Retry-After": "99999999"}), LONGEST_WAIT),
    ],
)
async def test_a_limit_is_respected(
    issues: Desk, github: FakeGitHub, clock: MovableClock, answer: Answer, wait: timedelta
) -> None:
    """When GitHub says that it was too much, the next attempt is made when it says, at the latest in six hours."""
    github.script += [answer]
    async with issues.delivering():
        issues.complete()
        told = await issues.until("outbox.failed")
        assert int(str(told.detail["next_at"])) - told.at == wait // timedelta(milliseconds=1)
        clock.advance(wait)
        issues.happen("task.sent")
        await issues.until("outbox.delivered")
    assert github.calls == ["POST", "POST"]  # it is known that the first posted nothing


async def test_a_limit_with_a_moment_of_reset(issues: Desk, github: FakeGitHub, clock: MovableClock) -> None:
    """When the calls of the hour are used up, the next one is made when the next hour begins."""
    reset = clock() // 1000 + 1800
    github.script += [Answer(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)})]
    async with issues.delivering():
        issues.complete()
        told = await issues.until("outbox.failed")
        clock.advance(timedelta(seconds=1800))
        issues.happen("task.sent")
        await issues.until("outbox.delivered")
    assert abs(int(str(told.detail["next_at"])) - reset * 1000) < 60_000


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (401, "the token is not valid"),
        (403, "the token may not comment there"),
        (404, "there is no such issue, or the token may not see it"),
        (410, "the issue is gone"),
        (422, "it does not take the comment"),
    ],
)
async def test_a_refusal_is_final(issues: Desk, github: FakeGitHub, status: int, why: str) -> None:
    """A comment that GitHub refuses is dead at once, with the reason; the task is completed all the same."""
    github.script += [Answer(status)]
    async with issues.delivering():
        issues.complete()
        told = await issues.until("outbox.dead")
    assert told.detail["reason"] == f"it answered {status}: {why}"
    assert github.calls == ["POST"]
    assert [parcel.outcome for parcel in issues.parcels()] == [DeliveryOutcome.DEAD]
    assert len(issues.log("task.completed")) == 1


async def test_a_renamed_repository_is_followed(issues: Desk, github: FakeGitHub) -> None:
    """Where GitHub says that the issue is at another address, the comment is posted there."""
    moved = f"{github.url}/repositories/1/issues/7/comments"
    github.script += [Answer(307, {"Location": moved})]
    async with issues.delivering():
        issues.complete()
        await issues.until("outbox.delivered")
    assert [call.path for call in github.received][1] == "/repositories/1/issues/7/comments"
    assert github.received[1].headers["Authorization"] == f"Bearer {TOKEN}"


async def test_an_endless_answer_is_not_read(
    issues: Desk, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only as much of an answer is read as one can be long."""
    monkeypatch.setattr(courier, "ANSWER", 1000)
    github.script += [Answer(201, body=b" " * 100_000 + b"{}")]
    async with issues.delivering():
        issues.complete()
        await issues.until("outbox.delivered")
    (failed,) = issues.log("outbox.failed")
    assert failed.detail["reason"] == "its answer is not JSON"
