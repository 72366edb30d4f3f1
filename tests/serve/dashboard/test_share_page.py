"""The page of a share link, as anyone sees it."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from hubbub.core.actions import task_actions
from hubbub.core.fleet import nodes, shares
from hubbub.core.presence import presences
from hubbub.core.work import tasks
from hubbub.model.fleet.calls import NodeInfo
from hubbub.model.fleet.nodes import Machine, ShareLink
from hubbub.model.programs.proxy_trust import authorities
from hubbub.model.records import Condition, Profile, Project
from hubbub.store.tx import Tx
from tests.serve.served_hub import Hub
from tests.serve.web_client import Visit, done, refusal
from tests.support.self_named import by_a_tool_set

HOSTILE = "<script>alert('x')</script>\u202e&amp;"


def machine(tx: Tx, project: Project, name: str, platform: str = "Linux 6.1") -> Machine:
    about = NodeInfo(name=name, machine_id=name, platform=platform, version="1.0", sandbox="bwrap")
    return nodes.report(tx, project, about)


def mint(
    hub: Hub, name: str = "box", lasts: timedelta = timedelta(hours=1), **more: Any
) -> tuple[ShareLink, str]:
    made: tuple[ShareLink, str] = hub.do(
        lambda tx: shares.mint(tx, hub.project, machine(tx, hub.project, name, **more), expires_in=lasts)
    )
    return made


def open_link(hub: Hub, secret: str, **more: Any) -> httpx2.Response:
    """Return the page for a browser without any token."""
    return httpx2.get(f"{hub.url}/share/{secret}", verify=authorities(hub.url), trust_env=False, **more)


def work(hub: Hub, agent: str, title: str, hostname: str) -> None:
    def begin(tx: Tx) -> None:
        by_a_tool_set(tx, hub.project.id, agent)
        presences.report(
            tx, hub.project.id, agent, instance="1", condition=Condition.WORKING,
            profile=Profile(hostname=hostname), ttl=timedelta(minutes=5),
        )  # fmt: skip
        task_actions.start(tx, tasks.send(tx, hub.project.id, sender="hub", to=agent, text=title), agent)

    hub.do(begin)


def test_anyone_with_the_link_sees_one_machine(hub: Hub) -> None:
    """The page shows the machine, who is on it and what they are at; nothing of any other, and it takes no token."""
    work(hub, "ann", "count the lines", "box")
    work(hub, "bob", "sort the files", "elsewhere")
    hub.do(lambda tx: machine(tx, hub.project, "elsewhere"))
    _share, secret = mint(hub)
    page = open_link(hub, secret)
    assert page.status_code == 200
    for shown in ("<h1>box</h1>", "online", "Linux 6.1", "bwrap", "ann — working", "count the lines"):
        assert shown in page.text
    for hidden in ("bob", "sort the files", "elsewhere", secret, str(hub.project.id), hub.project.slug):
        assert hidden not in page.text


def test_the_page_runs_nothing_and_tells_nobody(hub: Hub) -> None:
    """Its policy allows no script and nothing from anywhere; it is neither kept nor passed on nor framed."""
    page = open_link(hub, mint(hub)[1])
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "<script" not in page.text


def test_what_agents_say_is_only_text(hub: Hub) -> None:
    """Names and titles are others' texts: they are shown as they are, and are no part of the page."""
    work(hub, "<b>ann", HOSTILE, "<i>box")
    page = open_link(hub, mint(hub, "<i>box", platform="<img src=x>")[1])
    assert page.status_code == 200
    for raw in ("<script", "<img", "<b>", "<i>", "\u202e"):
        assert raw not in page.text
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;\\u202e&amp;amp;" in page.text


def test_a_link_that_ended_leads_nowhere(hub: Hub, visit: Visit) -> None:
    """Revoked, expired, or never there: it is the same page, with 404."""
    share, secret = mint(hub)
    web = visit(hub, hub.token())
    (listed,) = done(web.get("/shares"))["shares"]
    assert (listed["id"], listed["machine"]) == (str(share.id), "box")
    assert secret not in str(listed)
    assert done(web.delete(f"/shares/{share.id}"))["share"] == listed
    assert refusal(web.delete(f"/shares/{share.id}")) == (404, "not_found")
    revoked, unknown = open_link(hub, secret), open_link(hub, "nonsense")
    assert (revoked.status_code, unknown.status_code) == (404, 404)
    assert revoked.text == unknown.text
    assert "default-src 'none'" in revoked.headers["content-security-policy"]
    assert done(web.get("/shares"))["shares"] == []


def test_links_of_other_projects_are_not_there(hub: Hub, visit: Visit) -> None:
    """Another project's links are neither listed nor taken back."""
    share, secret = mint(hub)
    other = visit(hub, hub.token(project=hub.other_project()))
    assert done(other.get("/shares"))["shares"] == []
    assert refusal(other.delete(f"/shares/{share.id}")) == (404, "not_found")
    assert open_link(hub, secret).status_code == 200


@pytest.mark.parametrize(
    "path", ["/share/", "/share", "/share/a/b", "/shares/a", "//share/a", "/api/v1/share/a"]
)
def test_only_links_need_no_token(hub: Hub, path: str) -> None:
    """Every address but that of a share link needs a token."""
    assert httpx2.get(f"{hub.url}{path}", trust_env=False).status_code == 401


def test_a_link_is_only_looked_at(hub: Hub) -> None:
    """Nothing can be sent to a link, and it leads there by the hub's own names only."""
    _share, secret = mint(hub)
    assert httpx2.post(f"{hub.url}/share/{secret}", trust_env=False).status_code == 405
    assert open_link(hub, secret, headers={"Host": "evil.example"}).status_code == 421


def test_the_log_of_the_hub_does_not_know_the_link(hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    """A reader of the hub's log cannot follow the link."""
    _share, secret = mint(hub)
    open_link(hub, secret)
    captured = capsys.readouterr()
    assert secret not in captured.out + captured.err
    told = hub.do(lambda tx: tx.all("SELECT detail FROM activity"))
    assert secret not in str(told)


def test_secrets_are_not_shown(hub: Hub) -> None:
    """Text of agents that looks like a secret is taken out: anybody with the link reads the page."""
    token = "ghp_" + "a1B2" * 9
    work(hub, "ann", f"rotate {token} soon", "box")
    _share, secret = mint(hub)
    page = open_link(hub, secret)

    assert "rotate [redacted] soon" in page.text
    assert token not in page.text
