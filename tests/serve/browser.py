"""A browser without a screen, for tests of what the hub does with cookies, forms and pages."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from hubbub.core.people import logins
from hubbub.model.people.rights import Actor
from hubbub.model.programs.proxy_trust import authorities
from tests.serve.served_hub import PUBLIC_HOST, Hub
from tests.support.waiting import patience

COOKIE = f"hubbub_{PUBLIC_HOST}_443"  # of a hub with the address of `running_hub`
FORM = "application/x-www-form-urlencoded"
PAGE = "text/html,application/xhtml+xml,*/*;q=0.8"


class Browser:
    """Keeps cookies and sends the origin of its requests, as browsers do; it follows nothing by itself."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.http = httpx2.Client(
            base_url=hub.url, timeout=patience(30), verify=authorities(hub.url), trust_env=False
        )

    @property
    def cookie(self) -> str | None:
        """The secret of its login."""
        name = COOKIE if self.hub.served.settings.public_url else f"hubbub_{self.hub.served.port}"
        return self.http.cookies.get(name)

    def visit(self, path: str, **headers: str) -> httpx2.Response:
        """Go to a page as a person who types its address."""
        return self.http.get(path, headers={"Accept": PAGE, "Sec-Fetch-Site": "none", **headers})

    def submit(self, path: str, fields: dict[str, str], **headers: str) -> httpx2.Response:
        """Send a form of a page of the hub."""
        own = {
            "Accept": PAGE,
            "Origin": self.hub.url,
            "Sec-Fetch-Site": "same-origin",
            "User-Agent": "Testbrowser 1",
        }
        return self.http.post(path, data=fields, headers={**own, **headers})

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """Call REST as a script of a page of the hub does, without what only `signed` adds."""
        own = {"Origin": self.hub.url, "Sec-Fetch-Site": "same-origin"}
        return self.http.request(method, f"/api/v1{path}", json=body, headers={**own, **headers})

    def signed(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """Call like `call`, with the value that shows that the page is one of the hub's."""
        return self.call(method, path, body, **{"X-CSRF-Token": self.csrf, **headers})

    @property
    def csrf(self) -> str:
        """The CSRF value that `/me` gives a page of the hub."""
        return str(self.http.get("/api/v1/me").json()["csrf"])

    def sign_in(self, who: Actor | None = None) -> "Browser":
        """Sign the person in, by a link."""
        secret, _user, _end = self.hub.do(logins.link, who or self.hub.owner)
        assert self.submit(f"/login/{secret}", {}).status_code == 303
        return self


@contextmanager
def browsing(hub: Hub) -> Iterator[Browser]:
    """A browser that has never been anywhere."""
    browser = Browser(hub)
    try:
        yield browser
    finally:
        browser.http.close()


def field(page: httpx2.Response, name: str) -> str:
    """Return the value of a field in a form of a page, as it is written there."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page.text)
    assert found, page.text
    return found[1]
