"""The common parts of all commands: the options for hub, identity and output format, and the handling of errors."""

import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import click

from hubbub import settings
from hubbub.client import Hub, HubRefused, HubUnreachable, owner_token, running_hub
from hubbub.model import data_folder
from hubbub.model.errors import (
    ANOTHER,
    WHO_CLAIMS,
    Duplicate,
    HubError,
    Invalid,
    NotFound,
    ProjectDenied,
    Unauthorized,
    Unavailable,
    UnknownAgent,
)
from hubbub.model.fleet import call_chain
from hubbub.model.hub_address import origin
from hubbub.model.programs import extras
from hubbub.terminal import display
from hubbub.terminal.exit_codes import UNREACHABLE, USAGE
from hubbub.terminal.hub_remedies import remedy
from hubbub.terminal.wrong_words import OneOf

DEFAULT_PROJECT = "default"
PERSON = "utok_"  # prefix of a person's token
QUIET, OUTPUT = "only_names", "output"  # options of every list, and of every command
LOGIN = "hubbub.login"  # in the context of a command: the login that it has connected with


SIGN_IN = "sign in with hubbub login, or give --token or HUBBUB_TOKEN"
NO_TOKEN = (
    "a valid token is needed: the hub does not know this one, or it was revoked or has expired; give another with "
    "--token or HUBBUB_TOKEN"
)

# The hub's own page that explains a refusal, by its code.
EXPLAINED = {
    "budget": "cost#budgets",
    "duplicate": "duplicates",
    "not_holder": "lifecycle#who-may-do-what",
    "paused": "limits",
    "scope_conflict": "how-to/file-claims",
    "stopped": "cost#breakers",
    "taken": "leases",
    "too_many": "operations#what-a-token-may-use",
    "unproven": "proof",
}


# The next step after a refusal, by its code.
NEXT = {
    UnknownAgent.code: "See who is known: hubbub agents. Make a program an agent: hubbub work NAME --run COMMAND",
}


# The list of those that exist, by the noun with which the refusal of an unknown one begins.
LISTS = {
    "account": "account list",
    "approval": "approve",
    "budget": "budget list",
    "invitation": "user invitations",
    "lease": "lease list",
    "machine": "node list",
    "project": "project list",
    "stop": "breaker list",
    "task": "tasks --all",
    "token": "token list",
    "user": "user list",
    "webhook": "webhook list",
}


class Refused(click.ClickException):
    """The hub refused. At a terminal the next step and the page that explains why are named, too."""

    def __init__(self, refusal: HubRefused) -> None:
        super().__init__(display.clean(sentence(refusal)))
        page, self.next = EXPLAINED.get(refusal.code), NEXT.get(refusal.code) or _list_of(refusal)
        self.page = f"{refusal.hub}/docs/{page}" if refusal.hub and page else None

    def show(self, file: IO[str] | None = None) -> None:
        super().show(file)
        if self.next:
            display.advise(self.next)
        if self.page:
            display.advise(f"Read more: {self.page}")


class Misused(Refused):
    """The hub does not take a value: that is wrong usage, as if the command itself did not take it."""

    exit_code = USAGE


def _list_of(refusal: HubRefused) -> str | None:
    """Name the command that lists what exists, if something was not found."""
    known = LISTS.get(str(refusal).partition(" ")[0])
    is_unknown = refusal.code in (NotFound.code, ProjectDenied.code)
    return f"List them: hubbub {known}" if is_unknown and known else None


class Unreachable(click.ClickException):
    """The hub is out of reach: exit code 3."""

    exit_code = UNREACHABLE


def sentence(refusal: HubRefused) -> str:
    """Return the hub's refusal in terms of the command line."""
    if refusal.code == Duplicate.code:
        return str(refusal).replace(ANOTHER, "to make another: hubbub task add TEXT --anyway")
    if refusal.code == Unavailable.code:
        return str(refusal).replace(WHO_CLAIMS, f"{WHO_CLAIMS}: --as AGENT")
    if refusal.code != Unauthorized.code:
        return str(refusal)
    if (used := _login_in_use()) is not None:
        return f"your login at {used.url} was revoked or has expired; sign in again: hubbub login {used.url}"
    return NO_TOKEN


class Command(click.Command):
    """A command that turns a refusal of the hub or the store into one sentence and the right exit code."""

    names: display.Name | None = None  # if it lists things

    def invoke(self, ctx: click.Context) -> Any:
        self._require_text(ctx)
        self._choose_output(ctx)
        try:
            with extras.required():
                returned = super().invoke(ctx)
            print(end="", flush=True)  # here, where a failure can still be reported
            return returned
        except Invalid as error:
            raise click.UsageError(display.clean(str(error)), ctx) from None
        except HubRefused as error:
            raise (Misused if error.code == Invalid.code else Refused)(error) from None
        except HubError as error:
            raise click.ClickException(display.clean(str(error))) from None
        except HubUnreachable as error:
            folder = settings.read(data=ctx.params.get("data")).data
            logged_in = "you are logged in there; hubbub logout forgets it" if _login_in_use() else None
            raise Unreachable(display.clean(f"{error}; {logged_in or remedy(error.url, folder)}")) from None

    def _choose_output(self, ctx: click.Context) -> None:
        """Have JSON printed for `-o json`, too; and for `--quiet`, of that JSON only the names."""
        if ctx.params.pop(QUIET, False):
            ctx.meta[display.NAMES] = self.names
            ctx.params["as_json"] = True
        if ctx.params.pop(OUTPUT, None) and "as_json" in ctx.params:
            ctx.params["as_json"] = True

    def _require_text(self, ctx: click.Context) -> None:
        """Refuse arguments that are not UTF-8, which Python passes on as lone surrogates."""
        for each in self.params:
            try:
                str(ctx.params.get(each.name or "", "")).encode()
            except UnicodeEncodeError:
                raise click.BadParameter("it must be UTF-8 text", ctx, each) from None


def command(
    name: str,
    *,
    example: str,
    always_json: bool = False,
    names: display.Name | None = None,
    **attributes: Any,
) -> Callable[[Callable[..., Any]], click.Command]:
    """Declare a command with its example and with `--json`, which the function gets as `as_json`.

    A command that always prints JSON takes the option too, but its function does not get it. One that lists things
    says what `names` each of them; with `--quiet` it runs as with `--json`, and only the names are printed.
    """

    def declare(function: Callable[..., Any]) -> click.Command:
        epilog = "\b\nExample:\n" + "\n".join(f"  {line}" for line in example.splitlines())
        about = "Print JSON, as always." if always_json else "Print JSON; the same as -o json."
        function = click.option("-o", OUTPUT, type=OneOf(["json"]), hidden=True, help="Print JSON.")(function)
        function = click.option("--json", "as_json", is_flag=True, expose_value=not always_json, help=about)(
            function
        )
        if names is not None:
            function = click.option(
                "-q", "--quiet", QUIET, is_flag=True, help="Print only names, one a line."
            )(function)
        declared: Command = click.command(name, cls=Command, epilog=epilog, **attributes)(function)
        declared.names = names
        return declared

    return declare


@dataclass(frozen=True, slots=True)
class Choice:
    """The hub, identity and project chosen by options and environment; None for what they leave open."""

    data: Path
    url: str | None
    token: str | None
    project: str | None

    def signed_in(self) -> "Choice":
        """Return the choice with this user's login at the hub, if there is one and nothing else says who acts.

        A program that works for another has no use of it, as of the owner's token.
        """
        if self.token is not None or os.environ.get(call_chain.VARIABLE):
            return self
        found = data_folder.login(self.data, self.url)
        if found is None:
            return self
        if context := click.get_current_context(silent=True):
            context.meta[LOGIN] = found
        return replace(self, url=found.url, token=found.token, project=self.project or found.project)

    def connect(self) -> Hub:
        """Return the chosen hub. Raises `HubUnreachable` if none is known, `click.UsageError` without a token."""
        chosen = self.signed_in()
        url = chosen.url or running_hub(chosen.data)
        if url is None:
            raise HubUnreachable(f"no hub is running on the data folder {chosen.data}")
        return Hub(url, chosen.require_token(), project=chosen.project)

    def require_token(self) -> str:
        if self.token is None and os.environ.get(call_chain.VARIABLE):
            raise click.UsageError(
                f"no token: {call_chain.VARIABLE} says that this works for another, so it is not the hub's owner; "
                "give --token or HUBBUB_TOKEN"
            )
        token = self.token or owner_token(self.data)
        if token is None:
            raise click.UsageError(f"no token: {SIGN_IN} (there is no owner-token to read in {self.data})")
        return token


def _login_in_use() -> data_folder.KeptLogin | None:
    """Return the login that the command has connected with."""
    context = click.get_current_context(silent=True)
    found: data_folder.KeptLogin | None = context.meta.get(LOGIN) if context is not None else None
    return found


def data_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--data`."""
    return click.option("--data", metavar="FOLDER", envvar="HUBBUB_DATA", help="Data folder of the hub.")(
        function
    )


def chooses_hub(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for hub, identity and project; the function gets a `choice`."""

    @click.option(
        "--url",
        metavar="URL",
        envvar="HUBBUB_URL",
        help="Hub to use. [default: where you are logged in, else the one of the data folder]",
    )
    @click.option(
        "--token",
        metavar="TOKEN",
        envvar="HUBBUB_TOKEN",
        help="Token to use. [default: your login's, else the hub owner's]",
    )
    @click.option(
        "--project", metavar="SLUG", envvar="HUBBUB_PROJECT", help="Project to work in. [default: default]"
    )
    @data_option
    @functools.wraps(function)
    def chosen(
        *, url: str | None, token: str | None, project: str | None, data: str | None, **rest: Any
    ) -> Any:
        folder = settings.read(data=data).data
        return function(
            choice=Choice(folder, origin(url) if url else None, token or None, project or None), **rest
        )

    return chosen


def without_project(command: click.Command) -> click.Command:
    """Hide `--project` in the help of a command about the whole hub, or about a project that it names itself."""
    for each in command.params:
        if isinstance(each, click.Option) and each.name == "project":
            each.hidden = True
    return command


def uses_hub(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `chooses_hub`, for commands that call the hub: the function gets a connected `hub`."""

    @chooses_hub
    @functools.wraps(function)
    def connected(*, choice: Choice, **rest: Any) -> Any:
        hub = choice.connect()
        try:
            return function(hub=hub, **rest)
        finally:
            hub.close()

    return connected


def uses_project(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `uses_hub`, for commands about one project: a person's `default`, or their only one."""

    @uses_hub
    @functools.wraps(function)
    def placed(*, hub: Hub, **rest: Any) -> Any:
        return function(hub=in_project(hub), **rest)

    return placed


def in_project(hub: Hub) -> Hub:
    """Return the same hub with the default project if none was chosen; if that stays open, the hub refuses."""
    if hub.project is None and hub.token.startswith(PERSON):
        slugs = [each["slug"] for each in hub.get("/me")["projects"]]
        if DEFAULT_PROJECT in slugs:
            hub.project = DEFAULT_PROJECT
    return hub


def text_or_stdin(_ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return a text argument; `-` stands for standard input. One that is required is not empty."""
    text = _stdin() if value == "-" else value
    if param.required and not text.strip():
        hint = (
            "nothing came on standard input"
            if value == "-"
            else "write it in quotes, or give - for standard input"
        )
        raise click.UsageError(f"the text is empty: {hint}")
    return text


def _stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode() if sys.stdin else ""
    except UnicodeDecodeError:
        raise click.BadParameter("standard input must be UTF-8 text") from None
