"""The hub's own pages: the shell of the dashboard, signing in and out, and errors.

The views are one and the same page, filled by its scripts. Every other page works without a script; the views say that
they need one.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from hubbub import __version__
from hubbub.serve.dashboard.assets import Assets
from hubbub.serve.dashboard.translations import Translations, language_of
from hubbub.serve.http.page_paths import view_of

TEMPLATES = Path(__file__).parent / "templates"
THEMES = frozenset({"dark", "light"})
THEME_COOKIE = "hubbub_theme"
ICON = "mark.svg"
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types hubbub-html",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # with `no-referrer` a form would not show that it comes from our page
    "Vary": "Cookie, Accept-Language",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
}
LEGIBLE = str.maketrans({each: f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"})


class Pages:
    """Makes the pages from the templates, in the visitor's language and theme."""

    def __init__(self, assets: Assets) -> None:
        self.assets = assets
        self._templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            auto_reload=False,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def view(self, request: Request, me: Mapping[str, object]) -> Response:
        """Make the shell of every view. `me` is the answer of `/api/v1/me` for the visitor."""
        words, view = words_for(request), view_of(request.url.path)
        boot = {
            "assets": self.assets.root,
            "csrf": me["csrf"],
            "language": words.language,
            "me": me,
            "version": __version__,
        }
        return self.page(
            request,
            "index.html",
            boot=Markup(json.dumps(boot, ensure_ascii=False).translate(LEGIBLE)),  # noqa: S704  # made legible
            modules=self.assets.modules(view),
            styles=self.assets.styles(view),
        )

    def error(self, request: Request, status: int, sentence: str) -> Response:
        """Make an error page, in the reader's language where it has words for the error."""
        words = words_for(request)
        named = status if status in (401, 403, 404, 500) else "other"
        known = words(f"login.sentence_{status}") if status in (401, 404, 500) else sentence
        return self.page(
            request,
            "error.html",
            status=HTTPStatus(status),
            title=words(f"login.error_{named}"),
            sentence=known,
        )

    def page(
        self, request: Request, template: str, *, status: HTTPStatus = HTTPStatus.OK, **values: object
    ) -> Response:
        """Make a page from the template."""
        words, theme = words_for(request), request.cookies.get(THEME_COOKIE)
        text = self._templates.get_template(template).render(
            assets=self.assets.root,
            language=words.language,
            t=words,
            theme=theme if theme in THEMES else None,
            **values,
        )
        return Response(text, status, HEADERS, media_type="text/html; charset=utf-8")

    def icon(self, request: Request) -> Response:
        """Answer with the hub's icon, where browsers look for it on their own."""
        return self.assets.response(request, self.assets.files[ICON], {"Cache-Control": "max-age=86400"})

    def manifest(self, _request: Request) -> Response:
        """Answer with the manifest, which makes the dashboard an application with a window of its own."""
        icon = {"src": f"{self.assets.root}/{ICON}", "sizes": "any", "type": "image/svg+xml"}
        about = {
            "name": "hubbub",
            "short_name": "hubbub",
            "start_url": "/",
            "display": "standalone",
            "background_color": "#0c0e11",
            "theme_color": "#0c0e11",
            "icons": [icon],
        }
        return JSONResponse(about, media_type="application/manifest+json")


def words_for(request: Request) -> Translations:
    """Return the words in the visitor's language."""
    return Translations(language_of(request.cookies, request.headers.get("accept-language", "")))
