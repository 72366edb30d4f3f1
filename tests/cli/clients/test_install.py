"""`hubbub install`: a client becomes an agent of the hub, and leaves again without a trace."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hubbub.client import Hub, HubRefused
from hubbub.clients import install_record
from hubbub.clients.hook import ringer_process
from hubbub.clients.install.verify import verify
from hubbub.clients.install_record import RECORD
from tests.cli.processes import PROGRAM, RunningHub, hubbub, plain_environment, stranger
from tests.cli.screens import on_screen

CODEX = ".codex/config.toml"
TOML = '# mine\nmodel = "x"\n\n[mcp_servers.a]\ncommand = "a" # first\n'


@dataclass(frozen=True)
class Desk:
    """A person's home with a project in it, and a hub."""

    hub: RunningHub
    home: Path

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `hubbub install` in the project's folder."""
        return subprocess.run(
            [*PROGRAM, "install", *arguments],
            env=plain_environment(self.hub.data, **{**self.environment, **environment}),
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def environment(self) -> dict[str, str]:
        """Where the person's files are, and no others of this machine."""
        settings = {
            "HOME": str(self.home),
            "HUBBUB_CONFIG": str(self.config),
            "HUBBUB_PROJECT": self.hub.project,
        }
        gone = ("XDG_CONFIG_HOME", "CODEX_HOME", "CLINE_MCP_SETTINGS_PATH", "CLAUDE_CONFIG_DIR")
        return {**settings, **dict.fromkeys(gone, ""), "PATH": "/usr/bin:/bin"}

    def does(self, *arguments: str) -> str:
        """Return the output of a command, which must succeed."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.does(*arguments, "--json"))

    def me(self, token: str) -> Any:
        """Return the name that the hub knows the token's bearer by."""
        with closing(Hub(self.hub.url, token)) as hub:
            return hub.get("/me")

    @property
    def config(self) -> Path:
        return self.home.parent / "config"

    @property
    def project(self) -> Path:
        return self.home / "project"

    def token(self, agent: str) -> str:
        return (self.config / "agents" / f"{agent}.token").read_text("ascii")

    def tree(self) -> dict[str, bytes | None]:
        return {
            str(each): each.read_bytes() if each.is_file() else None
            for folder in (self.home, self.config)
            for each in sorted(folder.rglob("*"))
        }


@pytest.fixture
def desk(hub: RunningHub, tmp_path: Path) -> Iterator[Desk]:
    """A desk at a fresh project of a hub; everything installed there is stopped in the end."""
    found = Desk(hub, tmp_path / "home")
    found.project.mkdir(parents=True)
    file = found.home / CODEX
    file.parent.mkdir()
    file.write_text(TOML, "utf-8")
    yield found
    (found.config / RECORD).unlink(missing_ok=True)
    ringer_process.stop(str(found.config))


def test_an_installed_client_is_an_agent_with_a_token_of_its_own(desk: Desk) -> None:
    """The client gets a token that is bound to its agent, which only its owner may read, and is tried at once."""
    said = desk.does("codex", "--as", "ember")
    me = desk.me(desk.token("ember"))

    assert f"Codex is connected: ember reaches {desk.hub.url}" in said
    assert (me["agent"], [each["slug"] for each in me["projects"]]) == ("ember", [desk.hub.project])
    assert (desk.config / "agents" / "ember.token").stat().st_mode & 0o777 == 0o600
    assert (desk.config / "clients.json").stat().st_mode & 0o777 == 0o600
    assert "ntok_" not in said
    assert desk.hub.client().get("/agents/ember")["agent"]["runtime"] == "codex"


def test_the_agent_is_called_as_the_client_if_nobody_says_otherwise(desk: Desk) -> None:
    """Without `--as` the agent has the client's name."""
    desk.does("cursor")
    assert desk.me(desk.token("cursor"))["agent"] == "cursor"


def test_an_uninstall_restores_every_byte_and_takes_the_token_back(desk: Desk) -> None:
    """Afterwards nothing is left: no line, no folder, no backup, no record, no valid token."""
    before = desk.tree()
    desk.does("codex")
    token = desk.token("codex")
    desk.does("codex", "--uninstall")

    assert desk.tree() == before
    with pytest.raises(HubRefused, match="valid token"):
        desk.me(token)


def test_it_says_what_it_finds_and_takes_away(desk: Desk) -> None:
    """An install over the same says that it is there already, and an uninstall which files are gone."""
    assert "Codex is connected: " in desk.does("codex")
    assert "Codex is already connected: " in desk.does("codex")
    said = desk.does("codex", "--uninstall")
    assert f"removed {desk.home / '.codex' / '.env'}\n" in said
    assert f"changed {desk.home / '.codex' / 'config.toml'}\n" in said


def test_a_token_that_another_install_uses_stays(desk: Desk) -> None:
    """Two clients are one agent if a person insists: its token goes with the last of them."""
    desk.does("codex", "--as", "ember")
    token = desk.token("ember")
    desk.does("gemini", "--as", "ember", "--force")
    desk.does("codex", "--uninstall")

    assert desk.token("ember") == token
    assert desk.me(token)["agent"] == "ember"


def test_a_dry_run_shows_the_change_and_makes_none(desk: Desk) -> None:
    """What would be done to each file is said, then the diff is shown; neither a file nor the hub has changed."""
    config = desk.home / ".codex" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text("model = 'x'\n")
    before = desk.tree()
    shown = desk.does("codex", "--dry-run")

    assert shown.startswith(f"would change {config}\nwould add {config.parent / '.env'}\n")
    assert "+[mcp_servers.hubbub]" in shown
    assert desk.tree() == before
    assert [each["agent"] for each in desk.hub.client().get("/tokens")["tokens"]].count("codex") == 0


def test_a_dry_run_of_an_uninstall_takes_nothing_away(desk: Desk) -> None:
    """The way back is shown in the same form."""
    desk.does("codex")
    before = desk.tree()

    shown = desk.does("codex", "--uninstall", "--dry-run")
    assert "-[mcp_servers.hubbub]" in shown
    assert f"would remove {desk.home / '.codex/skills/hubbub/SKILL.md'}\n" in shown
    assert desk.tree() == before


def test_another_hub_under_our_name_is_replaced_only_by_force(desk: Desk) -> None:
    """The diff is shown and nothing is done; with `--force` it is, and the uninstall brings the other back."""
    file = desk.home / CODEX
    file.write_text('[mcp_servers.hubbub]\nurl = "http://other/mcp"\n', "utf-8")
    before = desk.tree()
    refused = desk.run("codex")

    assert refused.returncode == 1
    assert '-url = "http://other/mcp"' in refused.stdout
    assert refused.stderr == (
        f"Error: {file} has another mcp_servers.hubbub already; nothing was changed; replace it with --force\n"
    )
    assert desk.tree() == before
    desk.does("codex", "--force")
    assert "http://other" not in file.read_text("utf-8")
    assert desk.json("codex")["changed"] == []
    desk.does("codex", "--uninstall")
    assert desk.tree() == before


@pytest.mark.parametrize("how", [["--json"], ["--dry-run", "--json"]])
def test_a_conflict_is_told_to_programs_too(desk: Desk, how: list[str]) -> None:
    """With --json the sentence is among the facts; the exit code says that nothing was, or would be, done."""
    (desk.home / CODEX).write_text('[mcp_servers.hubbub]\nurl = "http://other/mcp"\n', "utf-8")
    refused = desk.run("codex", *how)
    facts = json.loads(refused.stdout)

    assert (refused.returncode, facts["well"]) == (1, False)
    assert facts["sentence"].endswith("nothing was changed; replace it with --force")
    assert refused.stderr == f"Error: {facts['sentence']}\n"


def test_folders_that_were_made_for_two_clients_go_with_the_last(desk: Desk) -> None:
    """On a fresh machine not even the folder that holds ours is left, whichever client goes first."""
    before = desk.tree()
    ours = {"HUBBUB_CONFIG": str(desk.home / ".config" / "hubbub")}
    for how in ([], ["--uninstall"]):
        assert {desk.run(each, *how, **ours).returncode for each in ("gemini", "cursor")} == {0}
    assert desk.tree() == before


def test_a_file_that_cannot_be_read_is_refused_with_what_to_paste(desk: Desk) -> None:
    """Nothing is done half: neither token nor record nor other files are made."""
    file = desk.home / CODEX
    file.write_text("model = ", "utf-8")
    before = desk.tree()
    refused = desk.run("codex")

    assert refused.returncode == 1
    assert "is not TOML" in refused.stderr
    assert "add this yourself:\n\n[mcp_servers.hubbub]\nurl = " in refused.stderr
    assert "Traceback" not in refused.stderr
    assert desk.tree() == before


def test_a_project_gets_no_token_but_a_line_to_export(desk: Desk) -> None:
    """In a project's files the token is a variable; the person is told how to set it."""
    said = desk.does("gemini", "--scope", "project")
    written = "".join(each.read_text("utf-8") for each in desk.project.rglob("*") if each.is_file())

    assert "export HUBBUB_TOKEN_OF_GEMINI=" in said
    assert "$HUBBUB_TOKEN_OF_GEMINI" in written
    assert "ntok_" not in written


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_the_second_agent_of_a_client_speaks_as_itself(desk: Desk, client: str) -> None:
    """The user's own files set the first agent's variable in every folder; a project's agent has another."""
    desk.does(client, "--as", "ember")
    said = desk.does(client, "--as", "cedar-2", "--scope", "project")
    line = next(each for each in said.splitlines() if "export" in each).partition(": ")[2]
    shown = subprocess.run(
        ["/bin/sh", "-c", f"{line}; env"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    given = dict(each.partition("=")[::2] for each in shown)
    ember, cedar = install_record.read(desk.config)
    assert (ember.agent, cedar.agent) == ("ember", "cedar-2")

    assert desk.me(given["HUBBUB_TOKEN_OF_CEDAR_2"])["agent"] == "cedar-2"
    told = verify(cedar, {**given, "HUBBUB_TOKEN": desk.token("ember").strip()}, [ember, cedar])
    assert told.found.startswith("cedar-2 reaches "), told


@pytest.mark.system
@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_an_older_second_agent_that_speaks_as_the_first_is_found(desk: Desk, client: str) -> None:
    """An entry of before shares the variable of the user's files: doctor says whose token is sent, and what to do."""
    desk.does(client, "--as", "ember")
    desk.does(client, "--as", "cedar", "--scope", "project")
    file = desk.project / (".mcp.json" if client == "claude-code" else ".codex/config.toml")
    file.write_text(file.read_text("utf-8").replace("HUBBUB_TOKEN_OF_CEDAR", "HUBBUB_TOKEN"), "utf-8")
    done = desk.hub.run("doctor", **desk.environment)

    assert done.returncode == 1
    assert "its token is not that of cedar, but of ember; install it again in " in done.stdout
    desk.does(client, "--as", "cedar", "--scope", "project")
    assert desk.hub.run("doctor", **desk.environment).returncode == 0
    desk.does(client, "--scope", "project", "--uninstall")
    assert not file.exists()


def test_a_link_out_of_the_project_is_not_followed(desk: Desk) -> None:
    """A repository may bring a link where the client's file belongs: what it leads to stays as it is."""
    (desk.home / ".gemini").mkdir()
    (desk.home / ".gemini" / "settings.json").write_text("{}")
    (desk.project / ".gemini").symlink_to(desk.home / ".gemini")
    before = desk.tree()
    refused = desk.run("gemini", "--scope", "project")

    assert refused.returncode != 0
    assert "leads out of the project" in refused.stderr
    assert desk.tree() == before


def test_a_client_without_projects_says_so(desk: Desk) -> None:
    """A scope that a client does not have is refused in a sentence."""
    refused = desk.run("windsurf", "--scope", "project")

    assert refused.returncode == 2
    assert "Windsurf has no configuration for a project" in refused.stderr


def test_scopes_are_installed_side_by_side(desk: Desk) -> None:
    """One client may be one agent for the user and another in a project; each goes for itself."""
    desk.does("cursor", "--as", "home")
    desk.does("cursor", "--as", "shop", "--scope", "project")
    (row,) = [each for each in desk.json("--list") if each["client"] == "cursor"]

    assert [(each["scope"], each["agent"]) for each in row["installs"]] == [
        ("user", "home"),
        ("project", "shop"),
    ]
    desk.does("cursor", "--uninstall")
    assert (desk.project / ".cursor" / "mcp.json").exists()


def test_all_clients_of_the_machine_are_installed(desk: Desk) -> None:
    """Without a client it says which are on this machine; --all installs those, once, and takes all of them back."""
    (desk.home / ".cursor").mkdir()
    before, nowhere = desk.tree(), str(desk.home)
    unsaid = desk.run(PATH=nowhere)
    assert unsaid.returncode == 2
    assert unsaid.stderr.endswith(" Found here: cursor, codex; --all takes all of these.\n")

    done = json.loads(desk.run("--all", "--json", PATH=nowhere).stdout)
    assert [each["sentence"].partition(" reaches ")[0] for each in done] == [
        "Cursor is connected: cursor",
        "Codex is connected: codex",
    ]
    again = desk.run("--all", PATH=nowhere)
    assert (again.returncode, again.stderr.split(";")[0]) == (
        1,
        "Error: found no other client on this machine",
    )

    assert desk.run("--all", "--uninstall", PATH=nowhere).returncode == 0
    assert desk.tree() == before


def test_at_a_terminal_each_client_is_asked_for(desk: Desk) -> None:
    """At a terminal a person says of each client that is on this machine whether it is installed."""
    (desk.home / ".cursor").mkdir()
    environment = {**desk.environment, "PATH": str(desk.home)}
    with on_screen(desk.hub, "install", **environment) as screen:
        for title, answer in (("Cursor", "n"), ("Codex", "y")):
            screen.until(f"Install {title}? [Y/n]")
            screen.type(f"{answer}\n")
        assert "Codex is connected: codex reaches" in screen.rest()
    assert [each["client"] for each in desk.json("--list") if each["installs"]] == ["codex"]


def test_a_machine_without_a_client_says_so(desk: Desk) -> None:
    """Where no client is found nothing is asked: the names are listed of those that are connected anyway."""
    (desk.home / CODEX).unlink()
    (desk.home / ".codex").rmdir()
    environment = {**desk.environment, "PATH": str(desk.home)}
    with on_screen(desk.hub, "install", **environment) as screen:
        said = screen.rest()
    assert "found no client on this machine; name one to connect it anyway: claude-code, " in said


def test_an_uninstall_under_another_name_is_refused(desk: Desk) -> None:
    """Whoever names an agent means that one: another stays, and what is undone is named."""
    desk.does("codex", "--as", "cedar")
    refused = desk.run("codex", "--as", "nobody", "--uninstall")

    assert refused.returncode == 1
    assert refused.stderr == "Error: Codex is installed as cedar, not nobody; nothing was changed\n"
    assert "Codex is not connected as cedar any more\n" in desk.does("codex", "--as", "cedar", "--uninstall")


def test_what_is_not_installed_cannot_be_uninstalled(desk: Desk) -> None:
    """An uninstall without an install is refused in a sentence."""
    refused = desk.run("zed", "--uninstall")

    assert refused.returncode == 1
    assert refused.stderr == "Error: Zed is not connected to a hub; see hubbub install --list\n"


def test_installing_again_keeps_the_token(desk: Desk) -> None:
    """A second install changes nothing, and makes no second token."""
    desk.does("codex")
    token, files = desk.token("codex"), (desk.home / CODEX).read_bytes()
    facts = desk.json("codex")

    assert facts["changed"] == []
    assert (desk.token("codex"), (desk.home / CODEX).read_bytes()) == (token, files)


def test_another_name_takes_the_place_of_the_first(desk: Desk) -> None:
    """The token of the name that the client had is worth nothing any more, and its file is gone."""
    desk.does("codex", "--as", "ember")
    token = desk.token("ember")
    said = desk.does("codex", "--as", "flint")

    assert "what waits for ember stays at the hub: hubbub inbox ember\n" in said
    assert desk.me(desk.token("flint"))["agent"] == "flint"
    assert not (desk.config / "agents" / "ember.token").exists()
    with pytest.raises(HubRefused, match="valid token"):
        desk.me(token)


def test_an_agent_has_a_name(desk: Desk) -> None:
    """An empty one is refused, and nothing is written."""
    before = desk.tree()
    refused = desk.run("codex", "--as", "")

    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    assert desk.tree() == before


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_what_is_granted_is_said(desk: Desk, client: str) -> None:
    """One line says what the client will not ask about any more."""
    (line,) = [each for each in desk.does(client).splitlines() if "without asking" in each]
    assert "may use 7 tools of the hub" in line


def test_files_of_our_own_are_counted(desk: Desk) -> None:
    """The plugin's many files are one line; the client's own are named."""
    lines = [each for each in desk.does("claude-code").splitlines() if each.startswith("changed ")]

    assert f"changed {desk.home}/.claude/settings.json" in lines
    assert len([each for each in lines if str(desk.config) in each]) == 1


def test_a_name_that_belongs_to_another_client_is_refused(desk: Desk) -> None:
    """A name that another client has is refused, with the command that frees it, and nothing is changed."""
    desk.does("codex", "--as", "birch")
    desk.does("gemini", "--as", "ember")
    before = desk.tree()
    refused = desk.run("gemini", "--as", "birch")

    assert refused.returncode == 1
    assert "codex is installed as 'birch'; choose another name with --as" in refused.stderr
    assert "hubbub install codex --uninstall" in refused.stderr
    assert desk.tree() == before
    assert desk.me(desk.token("ember"))["agent"] == "ember"


def test_what_an_install_sets_up_is_said(desk: Desk) -> None:
    """A line each tells of the reports of use, the place of the token, and prompts at the hub; a dry run tells too."""
    settings = desk.home / ".claude" / "settings.json"
    lines = [
        f"Claude Code reports its tokens and cost to the hub, by the OTEL variables in {settings}; see hubbub cost",
        "Claude Code's permission prompts also come to the hub, where you may answer them: hubbub approve",
    ]
    token, again = (
        f"the agent's token {{}} in {settings}, which only you can read",
        "start Claude Code anew if it runs already",
    )
    planned = desk.does("claude-code", "--dry-run").splitlines()
    assert [each for each in [*lines, token.format("would be")] if each not in planned] == []
    assert again not in planned
    assert f"--- /dev/null\n+++ {settings}\n" in "\n".join(planned)
    done = desk.does("claude-code").splitlines()
    assert [each for each in [*lines, token.format("is"), again] if each not in done] == []


def test_a_missing_program_is_said(desk: Desk, tmp_path: Path) -> None:
    """An install for a program that is not on the PATH says so, and its own files are no sign of the program."""
    folder = tmp_path / "bin"
    folder.mkdir()
    bare = desk.run("claude-code", PATH=str(folder)).stdout
    assert bare.endswith("; `claude` itself is not on your PATH: install it, then start it\n")

    def is_here() -> bool:
        rows = json.loads(desk.run("--list", "--json", PATH=str(folder)).stdout)
        return any(each["here"] for each in rows if each["client"] == "claude-code")

    assert not is_here()
    (folder / "claude").touch(0o755)
    assert is_here()
    assert "PATH" not in desk.run("claude-code", PATH=str(folder)).stdout


def test_a_name_that_belongs_to_another_project_is_refused(desk: Desk) -> None:
    """One name has one token on a machine: another project needs another name, or `--force`."""
    desk.does("codex", "--as", "ember")
    elsewhere = desk.hub.new_project().project
    refused = desk.run("gemini", "--as", "ember", "--project", elsewhere)

    assert refused.returncode == 1
    assert "choose another name with --as" in refused.stderr


def test_an_uninstall_works_without_the_hub(desk: Desk) -> None:
    """A hub that is gone keeps no client; what could not be taken back there is said."""
    before = desk.tree()
    with stranger() as url:
        desk.does("cursor")
        record = desk.config / "clients.json"
        record.write_text(record.read_text("utf-8").replace(desk.hub.url, url), "utf-8")
    file = desk.home / ".cursor" / "mcp.json"
    file.write_text(file.read_text("utf-8").replace(desk.hub.url, url), "utf-8")

    assert "hubbub token revoke" in desk.does("cursor", "--uninstall")
    assert desk.tree() == before


@pytest.mark.system
def test_a_hub_is_started_where_none_runs(desk: Desk, tmp_path: Path) -> None:
    """The first install on a fresh machine brings the hub with it."""
    data = tmp_path / "fresh"
    try:
        done = desk.run("cursor", "--data", str(data), "--project", "default")
        assert done.returncode == 0, done.stderr
        assert "Cursor is connected: cursor reaches http://127.0.0.1:" in done.stdout
    finally:
        hubbub("down", data=data)


def test_a_client_must_be_one_of_the_table(desk: Desk) -> None:
    """Another name is refused with those that there are."""
    refused = desk.run("emacs")

    assert refused.returncode == 2
    assert "'claude-code'" in refused.stderr


def test_doctor_tries_every_installed_client(desk: Desk) -> None:
    """Doctor connects as each client would, and says whether a hook of it was ever heard."""
    desk.does("codex")
    environment = {
        "HOME": str(desk.home),
        "HUBBUB_CONFIG": str(desk.config),
        "HUBBUB_PROJECT": desk.hub.project,
    }
    well = hubbub("doctor", data=desk.hub.data, environment=environment).stdout
    (desk.home / CODEX).write_text(TOML, "utf-8")
    ringer_process.stop(str(desk.config))
    broken = hubbub("doctor", data=desk.hub.data, environment=environment)

    assert f"ok   client codex: codex reaches {desk.hub.url}" in well
    assert "no hook heard yet, which is normal until you start it" in well
    assert "ok   ringer: it wakes idle clients" in well
    assert "nothing wakes an idle Codex; start it with: hubbub up" in broken.stdout
    assert broken.returncode == 1
    assert "BAD  client codex:" in broken.stdout
    assert "has no mcp_servers.hubbub any more; bring it back: hubbub install codex" in broken.stdout


def test_doctor_finds_a_token_that_was_taken_back(desk: Desk) -> None:
    """An entry that is there says nothing: the hub has to take its token."""
    desk.does("codex")
    (row,) = [each for each in desk.hub.client().get("/tokens")["tokens"] if each["agent"] == "codex"]
    desk.hub.client().delete(f"/tokens/{row['id']}")
    environment = {
        "HOME": str(desk.home),
        "HUBBUB_CONFIG": str(desk.config),
        "HUBBUB_PROJECT": desk.hub.project,
    }

    told = hubbub("doctor", data=desk.hub.data, environment=environment).stdout
    assert "does not take its token; install it again: hubbub install codex" in told


def test_a_bridge_acts_as_the_installed_agent(desk: Desk) -> None:
    """Claude Desktop starts `hubbub mcp --as NAME`, which finds the token by itself: the install has tried it."""
    said = desk.does("claude-desktop", "--as", "desk-1")

    assert f"desk-1 reaches {desk.hub.url}" in said
    unknown = hubbub(
        "mcp", "--as", "nobody", data=desk.hub.data, environment={"HUBBUB_CONFIG": str(desk.config)}
    )
    assert "no client is installed as 'nobody'" in unknown.stderr


def test_a_dry_run_at_a_terminal_is_short(desk: Desk) -> None:
    """A person sees a line for each file; every changed line only with --verbose, which is said."""
    words = ("install", "codex", "--dry-run")
    with on_screen(desk.hub, *words, **desk.environment) as screen:
        short = screen.rest()
    with on_screen(desk.hub, *words, "--verbose", **desk.environment) as screen:
        whole = screen.rest()
    assert f"would change {desk.home / CODEX}\n" in short
    assert ("[mcp_servers.hubbub]" in short, "[mcp_servers.hubbub]" in whole) == (False, True)
    assert "To see every changed line: add --verbose" in short
    assert "add --verbose" not in whole
