"""Sign-in cookies of browsers, and the proof that a request with one is meant.

A browser sends a cookie along with any page's request to the hub. So a cookie is `SameSite=Strict`, and in addition it
counts only for requests of this hub's pages; and a change needs a second value, in a header, that only those pages
know: `csrf_of` the cookie.

Other programs on the host can set cookies of any name, too, as cookies know no ports; and nobody can tell who set one
that came by http. Over https the cookie has the prefix that browsers accept only from this very address.
"""

import hashlib
import hmac
import re
from contextlib import suppress
from datetime import timedelta

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from hubbub.core.people import logins
from hubbub.core.people.auth_attempts import KNOWN_FOR
from hubbub.core.transaction import Transactions
from hubbub.model.errors import Forbidden, StoreUnavailable, Unauthorized
from hubbub.model.people.rights import SYSTEM, Actor
from hubbub.serve.http import page_paths
from hubbub.serve.http.hosts import Hosts
from hubbub.store.tx import Tx

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
CSRF = "x-csrf-token"
MOST_AGE = int(timedelta(days=90).total_seconds())
PINNED = "__Host-"  # a cookie with this prefix was set over https, by this host, for all of it
KNOWN = "_known"  # suffix of the cookie of a browser in which its person has signed in before
MOST_KNOWN = int(KNOWN_FOR.total_seconds())
MOST = 20  # cookies with the hub's name in one request; no real browser has that many


class ForgedRequest(Forbidden):
    """A request with a cookie that its owner may not have meant."""


class LoginCookies:
    """The cookies of one hub: of the programs that share its public address, else of the one on this port."""

    def __init__(self, transactions: Transactions, hosts: Hosts, port: int) -> None:
        self.transactions = transactions
        self.hosts = hosts
        self.name = cookie_name(port, hosts)

    async def identify(self, scope: Scope) -> Actor:
        """Return the sender of the request, by its cookie; put its page's value for changes into the scope's `csrf`.

        Raises `Unauthorized`, and `ForgedRequest` for a request from no page of this hub.
        """
        headers = Headers(scope=scope)
        presented = self.secrets(headers)
        if not presented:
            raise Unauthorized

        def recognise(tx: Tx) -> tuple[str, Actor, bool]:
            secret = logins.choose(tx, presented)
            return secret, *logins.recognise(tx, secret)

        secret, actor, is_due = await self.transactions.store.read(SYSTEM, recognise)
        csrf = csrf_of(secret)
        self._require_meant(scope, headers, csrf)
        if is_due:
            await self._touch(actor)
        scope.setdefault("state", {})["csrf"] = csrf
        return actor

    def secrets(self, headers: Headers) -> list[str]:
        """Return the different values in a request; a value that only the hub can have set excludes all others."""
        return self._brought(headers, self.name)

    def browsers(self, headers: Headers) -> list[str]:
        """Return the values of known browsers in a request, like `secrets`."""
        return self._brought(headers, self.name + KNOWN)

    def _brought(self, headers: Headers, plain: str) -> list[str]:
        for name in (PINNED + plain, plain):
            found = [value for header in headers.getlist("cookie") for value in _values(header, name)]
            if found:
                return list(dict.fromkeys(found))[:MOST]
        return []

    def keep(self, response: Response, secret: str, *, is_secure: bool) -> None:
        """Set the cookie of a login, and over https delete the one without it."""
        name = PINNED + self.name if is_secure else self.name
        if is_secure:
            self._forget(response, self.name, is_secure=True)
        response.headers.append(
            "Set-Cookie", f"{name}={secret}; Max-Age={MOST_AGE}; {_attributes(is_secure)}"
        )

    def keep_known(self, response: Response, browser: str, *, is_secure: bool) -> None:
        """Set the cookie of a known browser, which stays after the person has signed out."""
        name = (PINNED if is_secure else "") + self.name + KNOWN
        response.headers.append(
            "Set-Cookie", f"{name}={browser}; Max-Age={MOST_KNOWN}; {_attributes(is_secure)}"
        )

    def forget(self, response: Response, *, is_secure: bool) -> None:
        """Delete the login's cookie."""
        if is_secure:
            self._forget(response, PINNED + self.name, is_secure=True)
        self._forget(response, self.name, is_secure=is_secure)

    def _forget(self, response: Response, name: str, *, is_secure: bool) -> None:
        response.headers.append("Set-Cookie", f"{name}=; Max-Age=0; {_attributes(is_secure)}")

    def _require_meant(self, scope: Scope, headers: Headers, csrf: str) -> None:
        is_own = self.hosts.are_own_pages(headers)
        if scope["type"] == "websocket":
            is_own = is_own and "origin" in headers  # every browser sends it then
        elif scope["method"] in SAFE:
            is_own = is_own or (_is_link(headers) and page_paths.is_view(scope["path"]))
        if not is_own:
            raise ForgedRequest(
                "with a login only the hub's own pages may use this; other programs need a token"
            )
        changes = scope["type"] == "http" and scope["method"] not in SAFE
        if changes and not hmac.compare_digest(headers.get(CSRF, "").encode(), csrf.encode()):
            raise ForgedRequest("with a login this needs the header X-CSRF-Token, the csrf of /api/v1/me")

    async def _touch(self, actor: Actor) -> None:
        if (login_id := actor.token_id) is not None:
            with suppress(StoreUnavailable):  # else with the next request: a full disk must not stop readers
                await self.transactions.store.write(SYSTEM, lambda tx: logins.touch(tx, login_id))


def cookie_name(port: int, hosts: Hosts) -> str:
    """Name the cookie after the public address, behind which may be several programs, each on its own `port`."""
    if hosts.public is None:
        return f"hubbub_{port}"
    host, public_port = hosts.public
    return f"hubbub_{re.sub('[^a-z0-9.-]', '-', host)}_{public_port}"


def _is_link(headers: Headers) -> bool:
    """Tell whether a link on a page led the browser here, in a window of its own: a frame could be invisible."""
    is_whole = headers.get("sec-fetch-dest", "document") == "document"
    return is_whole and headers.get("sec-fetch-mode") == "navigate"


def csrf_of(secret: str) -> str:
    """Return the proof of a page of the hub: derived from the cookie's secret, which no page can read."""
    return hmac.new(secret.encode(), b"csrf", hashlib.sha256).hexdigest()


def is_secure(scope: Scope) -> bool:
    """Tell whether the browser came by https, even to a proxy that does not report it."""
    return scope["scheme"] == "https" or Headers(scope=scope).get("origin", "").startswith("https://")


def _attributes(is_secure: bool) -> str:
    return "Path=/; HttpOnly; SameSite=Strict" + ("; Secure" if is_secure else "")


def _values(header: str, name: str) -> list[str]:
    """Return the values of that name in the whole of one header, as other programs could push the hub's to its end."""
    pairs = (pair.strip().partition("=") for pair in header.split(";"))
    return [value for key, _, value in pairs if key == name]
