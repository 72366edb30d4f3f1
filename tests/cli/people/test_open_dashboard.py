"""`hubbub open`, the links that `serve` and `up` print, and passwords: the way into the dashboard."""

import json
import re
import subprocess
from pathlib import Path

import httpx2
import pytest

from hubbub.client import running_hub
from tests.cli.processes import PROGRAM, RunningHub, hubbub, plain_environment
from tests.support.waiting import patience

LINK = re.compile(r"http\S+/login/[0-9a-f]{32}\S*")
PASSWORD = "correct horse battery"


def follow(link: str) -> httpx2.Response:
    """Sign in by a link, and go where it leads."""
    with httpx2.Client(trust_env=False, timeout=patience()) as browser:
        address, _, query = link.partition("?")
        fields = dict(httpx2.QueryParams(query))
        answer = browser.post(address, data=fields)
        return browser.get(httpx2.URL(address).join(answer.headers["location"]))


def test_open_makes_a_link_and_shows_it(hub: RunningHub, tmp_path: Path) -> None:
    """It opens the browser that the user names with a link that signs in, in the project that is meant."""
    seen = tmp_path / "seen"
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > {seen}.part\nmv {seen}.part {seen}\n')
    program.chmod(0o755)
    environment = plain_environment(hub.data, BROWSER=f"{program} %s")

    done = hubbub("open", "--project", "default", data=hub.data, environment=environment)

    assert (done.returncode, done.stderr) == (0, "")
    (link,) = done.stdout.splitlines()
    assert seen.read_text() == link
    page = follow(link)
    assert (page.status_code, page.url.path, page.url.params["project"]) == (200, "/", "default")


def test_print_opens_nothing(hub: RunningHub) -> None:
    """With `--print` or `--json` the link is printed for others to use; each call makes another one."""
    environment = plain_environment(hub.data, BROWSER="false")
    first, second = (
        hubbub("open", "--print", data=hub.data, environment=environment).stdout.strip() for _ in range(2)
    )
    assert LINK.fullmatch(first)
    assert first != second
    told = json.loads(hubbub("open", "--json", data=hub.data, environment=environment).stdout)
    assert (told["user"], set(told)) == ("owner", {"user", "url", "expires_at"})
    assert follow(told["url"]).status_code == 200


def test_without_a_browser_it_says_so(hub: RunningHub, tmp_path: Path) -> None:
    """Where no browser can be opened the link is printed all the same, and the exit code is 1."""
    environment = plain_environment(hub.data, BROWSER="false", PATH=str(tmp_path))  # no program at all
    done = hubbub("open", data=hub.data, environment=environment)
    assert (done.returncode, bool(LINK.search(done.stdout))) == (1, True)
    assert "no browser can be opened here" in done.stderr


def test_whom_it_signs_in(hub: RunningHub) -> None:
    """The owner of the hub makes links for others; others only for themselves; an agent none."""
    name = f"eve-of-{hub.project}"
    token = hub.secret("user", "create", name, "--project", hub.project)
    told = json.loads(hub.run("open", "--user", name, "--json").stdout)
    assert told["user"] == name
    refused = hub.run("open", "--user", "owner", "--print", "--token", token)
    assert (refused.returncode, "only the owner of the hub" in refused.stderr) == (1, True)
    agent = hub.secret("token", "create", "--agent", "ada")
    refused = hub.run("open", "--print", "--token", agent)
    assert (refused.returncode, "only a person" in refused.stderr) == (1, True)


def test_a_password_to_sign_in_with(own_hub: RunningHub) -> None:
    """`user password` takes it from standard input; a bad one is refused, and shown nowhere."""
    refused = own_hub.run("user", "password", given="short\n")
    assert (refused.returncode, "8 to 1000 characters" in refused.stderr) == (2, True)
    done = own_hub.run("user", "password", given=f"{PASSWORD}\n")
    assert (done.returncode, done.stdout) == (0, "owner can sign in by name and password\n")
    with httpx2.Client(base_url=own_hub.url, trust_env=False, timeout=patience()) as browser:
        answer = browser.post("/login", data={"name": "owner", "password": PASSWORD})
        assert answer.status_code == 303
    files = [file for file in own_hub.data.rglob("*") if file.is_file()]
    assert not [file for file in files if PASSWORD.encode() in file.read_bytes()]


def test_a_hub_greets_with_a_link(tmp_path: Path) -> None:
    """A person who starts a hub gets the dashboard, under its public name if it has one; no file holds the code."""
    command = [*PROGRAM, "serve", "--port", "0", "--no-node", "--public-url", "https://hub.example.org/"]
    with subprocess.Popen(
        command, env=plain_environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as hub:
        assert hub.stdout is not None
        greeting = "".join(hub.stdout.readline() for _ in range(6))
        found = LINK.search(greeting)
        assert found, greeting
        link = found[0]
        assert link.startswith("https://hub.example.org/login/")
        code = link.rpartition("/")[2]
        running = running_hub(tmp_path)
        page = follow(f"{running}/login/{code}")
        again = hubbub("up", data=tmp_path).stdout
        hub.terminate()
    for told in (greeting, again):
        assert f" at {running}, from outside at https://hub.example.org\n" in told
        assert "  docs         https://hub.example.org/docs\n" in told
        assert "  MCP          https://hub.example.org/mcp\n" in told
    assert page.status_code == 200
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert not [file for file in files if code.encode() in file.read_bytes()]


@pytest.mark.system
def test_up_prints_a_link_and_keeps_none(tmp_path: Path) -> None:
    """`up` tells the link to whoever starts the hub; the log of the hub, which greets nobody, does not hold it."""
    done = hubbub("up", "--port", "0", data=tmp_path)
    try:
        found = LINK.search(done.stdout)
        assert found, done.stdout + done.stderr
        assert follow(found[0]).status_code == 200
        again = LINK.search(hubbub("up", data=tmp_path).stdout)
        assert again is not None
        assert again[0] != found[0]
        files = [file for file in tmp_path.rglob("*") if file.is_file()]
        assert not [file for file in files if b"/login/" in file.read_bytes()]
    finally:
        hubbub("down", data=tmp_path)
