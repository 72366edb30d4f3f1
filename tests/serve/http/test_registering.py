"""People who were invited: the link of an invitation, the page behind it, and how they come in by it."""

import pytest

from hubbub.core.people import access, users
from hubbub.core.people.auth_attempts import TRIES
from hubbub.model.errors import Unauthorized
from hubbub.model.people.rights import Role
from tests.serve.browser import browsing, field
from tests.serve.served_hub import Hub
from tests.serve.web_client import done

PASSWORD = "correct horse battery"
FORM = {"name": "ada", "password": PASSWORD}


def invite(hub: Hub, role: Role = Role.MEMBER) -> str:
    code: str = hub.do(lambda tx: users.invite(tx, hub.project, role), hub.owner)
    return code


def test_by_a_link(hub: Hub) -> None:
    """Looking at the link uses nothing up; its form makes a member of the project, signed in there."""
    code = invite(hub, Role.VIEWER)
    with browsing(hub) as browser:
        for _ in range(TRIES + 1):
            page = browser.visit(f"/register/{code}")
            assert (page.status_code, browser.cookie) == (200, None)
            assert f"Join {hub.project.name or hub.project.slug}" in page.text
            assert f"<code>hubbub login {hub.served.settings.public_url}</code>" in page.text

        answer = browser.submit("/register", {**FORM, "code": field(page, "code")})

        assert (answer.status_code, answer.headers["location"]) == (303, f"/?project={hub.project.slug}")
        assert browser.visit(answer.headers["location"]).status_code == 200
        me = done(browser.call("GET", "/me"))
        assert (me["user"], [(each["slug"], each["role"]) for each in me["projects"]]) == (
            "ada",
            [(hub.project.slug, "viewer")],
        )
        started = hub.do(lambda tx: tx.one("SELECT detail FROM activity WHERE kind = 'login.started'"))
        assert '"way": "invitation"' in str(started["detail"]).replace('":"', '": "')
    with browsing(hub) as later:
        assert later.submit("/login", FORM).status_code == 303


def test_a_link_that_is_no_longer_good_says_what_to_do(hub: Hub) -> None:
    """A used code and a made-up one get the same answer, which says whom to ask; nobody comes in by them."""
    code = invite(hub)
    with browsing(hub) as browser:
        assert browser.submit("/register", {**FORM, "code": code}).status_code == 303
    with browsing(hub) as stranger:
        for bad in (code, "inv_" + "0" * 32, "x"):
            answers = [
                stranger.visit(f"/register/{bad}"),
                stranger.submit("/register", {"name": "eve", "password": PASSWORD, "code": bad}),
            ]
            for answer in answers:
                assert (answer.status_code, stranger.cookie) == (403, None)
                assert "Ask whoever invited you for another: hubbub user invite" in answer.text
                assert field(answer, "code") == bad
    assert hub.do(lambda tx: users.by_name(tx, "eve")) is None


def test_a_code_can_be_typed(hub: Hub) -> None:
    """Who has only the code finds the form from the page for signing in, and types the code there."""
    with browsing(hub) as browser:
        assert 'href="/register"' in browser.visit("/login").text
        assert field(browser.visit("/register"), "code") == ""
        assert browser.submit("/register", {**FORM, "code": f" {invite(hub)}\n"}).status_code == 303


@pytest.mark.parametrize(
    ("name", "password", "status", "words"),
    [
        ("owner", PASSWORD, 409, "Somebody has this name already"),
        ("a b", PASSWORD, 400, "A name has 2 to 50 letters"),
        ("hub", PASSWORD, 400, "A name has 2 to 50 letters"),
        ("ada", "short", 400, "It needs 8 to 1000 characters"),
        ("ada", "password1", 400, "must not be a common one"),
        ("grace-hopper", "Grace-Hopper", 400, "or your name"),
    ],
)
def test_what_cannot_be_chosen_leaves_the_invitation(
    hub: Hub, name: str, password: str, status: int, words: str
) -> None:
    """A name or a password that is refused is told in a sentence, with the name kept; the code stays good."""
    code = invite(hub)
    with browsing(hub) as browser:
        refused = browser.submit("/register", {"code": code, "name": name, "password": password})
        assert (refused.status_code, browser.cookie, words in refused.text) == (status, None, True)
        assert (field(refused, "code"), password in refused.text.replace(name, "")) == (code, False)
        assert f'value="{name}"' in refused.text
        assert browser.submit("/register", {**FORM, "code": code}).status_code == 303


def test_guessing_is_slowed_down(hub: Hub) -> None:
    """After ten wrong codes in a minute an address must wait, and is told how long; the code stays good."""
    code = invite(hub)
    with browsing(hub) as browser:
        for number in range(TRIES):
            assert browser.visit(f"/register/{number}").status_code == 403
        for stopped in (
            browser.visit(f"/register/{code}"),
            browser.submit("/register", {**FORM, "code": code}),
        ):
            assert (stopped.status_code, browser.cookie) == (429, None)
            assert 0 < int(stopped.headers["retry-after"]) <= 60
            assert "Too many attempts" in stopped.text
    assert hub.do(lambda tx: users.invited_to(tx, code)) == hub.project


def test_other_sites_register_nobody(hub: Hub) -> None:
    """A form of another site's page is refused, and the invitation stays good."""
    code = invite(hub)
    with browsing(hub) as browser:
        foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
        assert browser.submit("/register", {**FORM, "code": code}, **foreign).status_code == 403
    assert hub.do(lambda tx: users.by_name(tx, "ada")) is None


def test_who_registers_is_no_longer_somebody_else(hub: Hub) -> None:
    """In a browser where somebody is signed in, the new person takes their place, and the old login ends."""
    code = invite(hub)
    with browsing(hub) as browser:
        before = browser.sign_in().cookie
        assert browser.submit("/register", {**FORM, "code": code}).status_code == 303
        assert done(browser.call("GET", "/me"))["user"] == "ada"
        assert before not in (None, browser.cookie)
    with pytest.raises(Unauthorized):
        hub.do(lambda tx: access.recognise(tx, before))


def test_in_chinese(hub: Hub) -> None:
    """The page and what it refuses speak the visitor's language."""
    with browsing(hub) as browser:
        chinese = {"Accept-Language": "zh-CN"}
        assert "你已受邀加入此项目" in browser.visit(f"/register/{invite(hub)}", **chinese).text
        assert "请让邀请你的人重新生成" in browser.visit("/register/x", **chinese).text
