"""The page behind a link on a telephone, over HTTP, for whoever has not signed in."""

import httpx2
import pytest

from hubbub.core.log import webhooks
from hubbub.model.ids import parse_id
from hubbub.model.log import answer_links
from hubbub.model.log.webhooks import Webhook, WebhookFormat
from hubbub.store.tx import Tx
from tests.serve.rest.fleet.desk_requests import DIGEST, put
from tests.serve.served_hub import Hub
from tests.serve.web_client import Json, Visit, Web, done


@pytest.fixture
def agent(hub: Hub, visit: Visit) -> Web:
    return visit(hub, hub.token("ann"))


def page_of(hub: Hub, asked: Json) -> str:
    """Return the path of the link that the owner's telephone would get."""

    def added(tx: Tx) -> Webhook:
        topic = "https://ntfy.example.org/topic"
        return webhooks.add(tx, hub.project, topic, ["needs"], WebhookFormat.NTFY, answers=True)[0]

    phone, approval_id = hub.do(added, hub.owner), parse_id(asked["approval_id"])
    assert approval_id is not None
    return f"{hub.url}/answer/{answer_links.token(phone, approval_id, DIGEST)}"


def test_a_question_is_answered_by_one_tap(hub: Hub, agent: Web) -> None:
    """Looking changes nothing; one post answers, in the owner's name, and a second is told who was first."""
    asked = put(agent, kind="prompt", shown="git push <b>")
    page = page_of(hub, asked)
    for _ in range(2):
        seen = httpx2.get(page)
        assert (seen.status_code, "git push &lt;b&gt;" in seen.text) == (200, True)
    assert done(agent.get(f"/approvals/{asked['approval_id']}"))["approval"]["status"] == "pending"

    assert httpx2.post(f"{page}/yes").status_code == 200
    approved = done(agent.get(f"/approvals/{asked['approval_id']}"))["approval"]
    assert (approved["status"], approved["answered_by"]) == ("approved", "owner")
    late = httpx2.post(f"{page}/no")
    assert (late.status_code, "it was approved by owner" in late.text) == (409, True)
    assert "<form" not in httpx2.get(page).text


def test_a_link_that_is_none_shows_nothing(hub: Hub, agent: Web) -> None:
    """A changed or guessed link tells nothing of any question."""
    asked = put(agent, kind="prompt", shown="git push")
    page = page_of(hub, asked)
    for wrong in (page[:-1] + ("0" if page[-1] != "0" else "1"), f"{hub.url}/answer/guess"):
        for answer in (httpx2.get(wrong), httpx2.post(f"{wrong}/yes")):
            assert (answer.status_code, "git push" in answer.text) == (404, False)
    assert httpx2.get(f"{page}/yes").status_code == 405


def test_a_page_of_another_site_answers_nothing(hub: Hub, agent: Web) -> None:
    """A form on a foreign page is refused, even with a link that leaked to it."""
    asked = put(agent, kind="prompt")
    sent = httpx2.post(f"{page_of(hub, asked)}/yes", headers={"Origin": "https://evil.example.org"})
    assert sent.status_code == 403
    assert done(agent.get(f"/approvals/{asked['approval_id']}"))["approval"]["status"] == "pending"


def test_what_is_dangerous_has_no_yes(hub: Hub, agent: Web) -> None:
    """The page of a dangerous call offers a no, and leads to the dashboard for a yes."""
    page = page_of(hub, put(agent, dangerous=True))
    shown = httpx2.get(page).text
    assert (f"{page.removeprefix(hub.url)}/no" in shown, "/yes" in shown) == (True, False)
    assert httpx2.post(f"{page}/yes").status_code == 403
