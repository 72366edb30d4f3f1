"""Comments on GitHub issues, each posted once.

A comment begins with an invisible mark. If an earlier attempt may have succeeded, the comments are searched
for the mark first.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from http import HTTPStatus
from typing import Any

import httpx2

from hubbub import __version__
from hubbub.core.log.outbox import OutboxJob
from hubbub.model.log.outbox_items import AttemptReport, AttemptResult, OutboxItem
from hubbub.model.programs.proxy_trust import authorities, trusts_environment
from hubbub.model.work import github_issues
from hubbub.serve.outbox import delivery_results

TIMEOUT = httpx2.Timeout(15, connect=5)  # seconds
ANSWER = 16 * 1024 * 1024  # bytes of an answer that are read, at most
PAGE = 50  # comments asked for at once
PAGES = 20
CLOCKS = timedelta(days=1)  # the most by which the clocks of the hub and of GitHub may differ
UNSAID = timedelta(minutes=1)  # to wait if a limit names no time

UNLISTED = (
    HTTPStatus.NOT_FOUND,
    HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.NOT_IMPLEMENTED,
)  # cannot be searched
SKIPPED = "no token for GitHub is set; HUBBUB_GITHUB_TOKEN is where it goes"
REFUSED: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "the token is not valid",
    HTTPStatus.FORBIDDEN: "the token may not comment there",
    HTTPStatus.NOT_FOUND: "there is no such issue, or the token may not see it",
    HTTPStatus.GONE: "the issue is gone",
    HTTPStatus.UNPROCESSABLE_ENTITY: "it does not take the comment",
}
LIMITING = (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS)


class _Unexpected(Exception):
    """An unexpected answer, and its meaning."""

    def __init__(self, report: AttemptReport) -> None:
        super().__init__(report.reason)
        self.report = report


class GitHubComments:
    """The courier of comments."""

    def __init__(self, api: str, token: str | None) -> None:
        self._api, self._token = api, token

    async def deliver(self, errand: OutboxJob) -> AttemptReport:
        """Post the comment, unless it is there."""
        parcel = errand.parcel
        if self._token is None:
            return AttemptReport(fate=AttemptResult.SKIPPED, reason=SKIPPED)
        issue = github_issues.parse(parcel.issue or "")
        path = f"/repos/{issue.owner}/{issue.repository}/issues/{issue.number}/comments"
        is_in_doubt = parcel.doubtful
        try:
            if is_in_doubt and await self._is_there(path, parcel, errand.begun_at):
                return AttemptReport(fate=AttemptResult.DELIVERED, reason="an earlier attempt had succeeded")
            is_in_doubt = False
            body = {"body": f"{mark(parcel)}\n{parcel.text}"}
            await self._call("POST", path, errand.begun_at, HTTPStatus.CREATED, body=body)
        except _Unexpected as unexpected:
            report = unexpected.report
        except httpx2.RequestError as error:
            report = delivery_results.unanswered(error)
        else:
            return AttemptReport(fate=AttemptResult.DELIVERED, status=HTTPStatus.CREATED)
        return report if not is_in_doubt else _still_in_doubt(report)

    async def close(self) -> None:
        if "_http" in self.__dict__:
            await self._http.aclose()

    async def _is_there(self, path: str, parcel: OutboxItem, now: int) -> bool:
        """Tell whether one of the comments since the parcel was put is ours; not where they cannot be listed."""
        since = datetime.fromtimestamp(parcel.created_at / 1000, UTC) - CLOCKS
        query = {"since": since.strftime("%Y-%m-%dT%H:%M:%SZ"), "per_page": str(PAGE)}
        for page in range(1, PAGES + 1):
            try:
                found = await self._call("GET", path, now, HTTPStatus.OK, query={**query, "page": str(page)})
            except _Unexpected as unexpected:
                if unexpected.report.status not in UNLISTED:
                    raise
                return False
            comments = found if isinstance(found, list) else []
            if any(mark(parcel) in str(comment.get("body")) for comment in comments):
                return True
            if len(comments) < PAGE:
                return False
        return False

    async def _call(
        self,
        method: str,
        path: str,
        now: int,
        expected: HTTPStatus,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the JSON of an answer with the expected status. Raises `_Unexpected`, `httpx2.RequestError`."""
        async with self._http.stream(method, self._api + path, params=query, json=body) as response:
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > ANSWER:
                    break
        if response.status_code != expected:
            raise _Unexpected(_report(response, bytes(content), now))
        try:
            return json.loads(content)
        except ValueError:
            reason = "its answer is not JSON"
            raise _Unexpected(
                AttemptReport(fate=AttemptResult.FAILED, reason=reason, doubtful=True)
            ) from None

    @cached_property
    def _http(self) -> httpx2.AsyncClient:
        """Return the client; it is made when first needed, which in most hubs is never."""
        return httpx2.AsyncClient(
            timeout=TIMEOUT,
            follow_redirects=True,  # of a renamed repository; the token goes to the same host only
            verify=authorities(self._api),
            trust_env=trusts_environment(self._api),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self._token}",
                "User-Agent": f"hubbub/{__version__}",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )


def mark(parcel: OutboxItem) -> str:
    """Return the mark that tells our comment from all others; not shown to readers."""
    return f"<!-- hubbub task {parcel.task_id} {parcel.id} -->"


def _report(response: httpx2.Response, content: bytes, now: int) -> AttemptReport:
    """Report an unexpected answer."""
    status = response.status_code
    if status in LIMITING and (wait := _limit(response, content, now)) is not None:
        reason = f"it answered {status}: too much was asked of it"
        return AttemptReport(
            fate=AttemptResult.FAILED, status=status, reason=reason, wait=wait, holds_up_all=True
        )
    is_broken = status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT
    if is_broken:
        return delivery_results.failed(status, response.headers, now)
    return delivery_results.refused(status, REFUSED.get(status, "that is not its usual answer to a comment"))


def _limit(response: httpx2.Response, content: bytes, now: int) -> timedelta | None:
    """Return how long to ask nothing of GitHub; None if its complaint is not about too many calls."""
    wait = delivery_results.retry_after(response.headers, now)
    if wait is None and response.headers.get("x-ratelimit-remaining") == "0":
        wait = delivery_results.until(response.headers.get("x-ratelimit-reset", ""), now) or UNSAID
    if wait is None and (
        response.status_code == HTTPStatus.TOO_MANY_REQUESTS or b"rate limit" in content.lower()
    ):
        wait = UNSAID
    return wait


def _still_in_doubt(report: AttemptReport) -> AttemptReport:
    """Report an attempt that could not find out whether the one before succeeded."""
    return replace(report, doubtful=True)
