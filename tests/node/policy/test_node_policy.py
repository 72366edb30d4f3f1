"""`node.toml`: what can be said in it, and that what does not load is strict."""

from datetime import timedelta
from pathlib import Path

import pytest

from hubbub.model.errors import Invalid
from hubbub.node.policy.node_policy import APPROVED, AdaptedRuntime, CommandRuntime, PolicyFile, add, load
from hubbub.processes.log import structlog
from shellgate.decision import Effect, Mode
from tests.support.each_row import each_row


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The path of a machine's policy."""
    (tmp_path / "config").mkdir()
    return tmp_path / "config" / "node.toml"


def written(file: Path, text: str) -> Path:
    file.write_text(text, "utf-8")
    return file


def test_without_a_file_it_is_the_shipped_one(file: Path, tmp_path: Path) -> None:
    """A new machine asks, and agents work in the working folder alone."""
    policy = load(file, tmp_path)
    assert (policy.mode, policy.roots, policy.fault) == (Mode.DEFAULT, (tmp_path.resolve(),), None)
    assert policy.approval_timeout == timedelta(minutes=5)


def test_everything_that_can_be_said(file: Path, tmp_path: Path) -> None:
    """Each key, in one file; paths begin at the file's folder, and `~` is the home."""
    policy = load(
        written(
            file,
            """
            mode = "bypass"
            approval_timeout = 90
            elicitation = true
            [rules]
            deny = ["Bash(git push *)", { rule = "Read(secrets/**)", match = ["secrets/a"], not_match = ["src/a"] }]
            ask = ["write_file"]
            allow = [
                "execute_command(make *)",
                { rule = "Bash(git log *)", match = ["git log | git log -1"], not_match = ["git log | sh"] },
                { rule = "WebFetch(domain:x.org)", match = ["https://x.org/a", "x.org"], not_match = ["y.org"] },
                { rule = "connect(exec:prod-*)", match = ["exec:prod-1"], not_match = ["exec:dev-1"] },
            ]
            [files]
            roots = ["../proj", "~/work"]
            [runtime]
            kind = "command"
            command = ["claude", "-p"]
            [skills]
            paths = ["skills"]
            [commands]
            background_after_ms = 30000
            network = false
            """,
        ),
        tmp_path,
        home=tmp_path / "home",
    )
    assert policy.fault is None
    assert (policy.mode, policy.elicitation, policy.network) == (Mode.BYPASS, True, False)
    assert (policy.approval_timeout, policy.background_after) == (
        timedelta(seconds=90),
        timedelta(seconds=30),
    )
    assert [rule.source for rule in policy.deny] == ["Bash(git push *)", "Read(secrets/**)"]
    assert [rule.source for rule in policy.ask + policy.allow[:1]] == [
        "write_file",
        "execute_command(make *)",
    ]
    assert len(policy.allow) == 4
    assert policy.roots == ((tmp_path / "proj").resolve(), (tmp_path / "home" / "work").resolve())
    assert policy.skills == ((tmp_path / "config" / "skills").resolve(),)
    assert policy.runtime == CommandRuntime(("claude", "-p"))


@each_row(
    ("program", "found"),
    [
        ("", None),
        ("program = 'claude-next'", "claude-next"),
        ("program = '~/bin/claude'", "home/bin/claude"),
        ("program = '../bin/claude'", "config/../bin/claude"),
    ],
)
def test_a_program_that_we_know_needs_only_its_kind(
    file: Path, tmp_path: Path, program: str, found: str | None
) -> None:
    """A known program needs only its kind; its place and its words may be added."""
    text = f"[runtime]\nkind = 'claude'\nmodel = 'big'\narguments = ['--x', 'y']\nkey = 'KEY'\n{program}"
    policy = load(written(file, text), tmp_path, home=tmp_path / "home")

    at = str(tmp_path.resolve() / found) if found and "/" in found else found
    assert policy.fault is None
    assert policy.runtime == AdaptedRuntime("claude", at, "big", ("--x", "y"), "KEY")
    assert policy.runtime.name == "claude big"


@each_row(
    ("text", "why"),
    [
        ("mode = 'lax'", "mode must be one of default, strict, bypass"),
        ("mode = 1", "mode must be"),
        ("modes = 'strict'", "modes is not a known key"),
        (
            "approval_timeout = 0",
            "approval_timeout must be a number of seconds over 0, at most 3600, or a text such as 90s or 5m",
        ),
        ("approval_timeout = '5 min'", "or a text such as 90s or 5m"),
        ("approval_timeout = true", "approval_timeout must be"),
        ("approval_timeout = nan", "approval_timeout must be"),
        ("approval_timeout = 99999999999999999999", "approval_timeout must be"),
        ("elicitation = 'yes'", "elicitation must be true or false"),
        ("rules = []", "rules must be a table"),
        ("[rules]\nallow = 'Bash'", "rules.allow must be a list of rules"),
        ("[rules]\nallow = [1]", "rules.allow must be a list of rules"),
        ("[rules]\nallow = ['Bash(']", "must be a tool"),
        ("[rules]\nalow = []", "rules.alow is not a known key"),
        ("[rules]\nallow = [{match = ['x']}]", "rule must be there"),
        ("[rules]\nallow = [{rule = 'Bash(ls *)', matches = ['ls']}]", "matches is not a known key"),
        ("[rules]\ndeny = [{rule = 'Read(a)', match = ['b']}]", "does not match its example 'b'"),
        ("[rules]\ndeny = [{rule = 'Read(a)', not_match = ['a']}]", "matches its example 'a'"),
        ("[files]\nroots = []", "files.roots must be a list of at least one folder"),
        ("[files]\nroots = '/x'", "files.roots must be"),
        ("[files]\nroot = ['/x']", "files.root is not a known key"),
        ("[runtime]\ncommand = ['x']", "runtime.kind must be one of command, openai"),
        ("[runtime]\nkind = 'command'", "runtime.command must be a list of words"),
        ("[runtime]\nkind = 'openai'\nmodel = 'm'", "runtime.url must be given"),
        ("[runtime]\nkind = 'claudia'", "must be one of command, openai, claude, codex, gemini, opencode"),
        ("[runtime]\nkind = 'claude'\narguments = '--yes'", "runtime.arguments must be a list of texts"),
        ("[runtime]\nkind = 'claude'\nprogram = ['claude']", "runtime.program must be a text"),
        ("[commands]\nbackground_after_ms = '1 day'", "commands.background_after_ms must be"),
        ('[files]\nroots = ["a\\u0000"]', "files.roots must be a list of folders"),
        (
            "[rules]\nallow = [{rule = 'WebFetch(domain:x.org)', match = ['http://[']}]",
            "does not match its example",
        ),
        (
            "[rules]\nallow = [{rule = 'Bash(git *)', match = ['git log; rm x']}]",
            "does not match its example",
        ),
        ("[rules]\ndeny = [{rule = 'Bash(rm *)', not_match = ['git log; rm x']}]", "matches its example"),
        ("mode = " + "1" * 5000, "is not TOML"),
        ("mode = ", "is not TOML"),
        ("mode = 'strict'\nmode = 'bypass'", "is not TOML"),
    ],
)
def test_what_does_not_load_is_strict(file: Path, tmp_path: Path, text: str, why: str) -> None:
    """Whatever is wrong, nothing is let through by half of a policy, and one sentence says what it is."""
    policy = load(written(file, text), tmp_path)
    assert policy.mode is Mode.STRICT
    assert (policy.allow, policy.roots) == ((), (tmp_path.resolve(),))
    assert policy.fault is not None
    assert why in policy.fault
    assert str(tmp_path) not in policy.fault


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_does_not_load(file: Path, tmp_path: Path, mode: int) -> None:
    """A policy is the operator's alone."""
    written(file, "mode = 'bypass'").chmod(mode)
    policy = load(file, tmp_path)
    assert policy.mode is Mode.STRICT
    assert policy.fault == "node.toml can be written by others; take that away with: chmod go-w node.toml"


def test_what_is_no_file_does_not_load(file: Path, tmp_path: Path) -> None:
    """A folder, bytes that are no text, or a file without end are no policy."""
    file.mkdir()
    assert load(file, tmp_path).mode is Mode.STRICT
    file.rmdir()
    file.write_bytes(b"mode = '\xff'")
    assert load(file, tmp_path).fault == "node.toml must be UTF-8 text"
    file.write_bytes(b"#" * 2_000_000)
    assert "larger than" in str(load(file, tmp_path).fault)


def test_an_edit_holds_from_the_next_call_on(file: Path, tmp_path: Path) -> None:
    """A machine reads its policy again when somebody has changed it, and logs it as an error if it does not load."""
    kept = PolicyFile(file, tmp_path)
    assert kept.current().mode is Mode.DEFAULT
    written(file, "mode = 'bypass'")
    assert kept.current().mode is Mode.BYPASS
    with structlog.testing.capture_logs() as logged:
        written(file, "mode = 'off'")
        assert kept.current().mode is Mode.STRICT
        assert kept.current().mode is Mode.STRICT
    assert [entry["log_level"] for entry in logged] == ["error"]
    file.unlink()
    assert kept.current().mode is Mode.DEFAULT


def test_rules_that_people_approved_stand_beside_the_file(file: Path, tmp_path: Path) -> None:
    """A rule that is added holds at the next call, is not written into the operator's file, and is there once."""
    text = "[rules]\nallow = ['Bash(make)']  # by hand\n"
    kept = PolicyFile(written(file, text), tmp_path)
    kept.current()
    add(file, 'Bash(echo "\u00fc" *)', Effect.ALLOW)
    add(file, "write_file(x)", Effect.DENY)
    add(file, "write_file(x)", Effect.DENY)
    policy = kept.current()
    assert policy.fault is None
    assert [rule.source for rule in policy.allow] == ["Bash(make)", 'Bash(echo "\u00fc" *)']
    assert [rule.source for rule in policy.deny] == ["write_file(x)"]
    assert file.read_text("utf-8") == text
    assert file.with_name(APPROVED).stat().st_mode & 0o777 == 0o600


def test_what_people_write_beside_the_rules_stays(file: Path, tmp_path: Path) -> None:
    """`rules.toml` may be edited; a rule that is added leaves the rest of it as it is."""
    add(file, "Bash(make)", Effect.ALLOW)
    approved = file.with_name(APPROVED)
    approved.write_text(approved.read_text("utf-8") + "# keep this\n", "utf-8")
    add(file, "Bash(ls)", Effect.ASK)
    assert "# keep this" in approved.read_text("utf-8")
    assert len(load(file, tmp_path).allow) == len(load(file, tmp_path).ask) == 1


def test_no_rule_is_added_that_would_not_load(file: Path, tmp_path: Path) -> None:
    """A text that is no rule is refused, and any text where `rules.toml` is broken: the policy is strict then."""
    with pytest.raises(Invalid):
        add(file, "Bash(", Effect.ALLOW)
    assert not file.with_name(APPROVED).exists()
    file.with_name(APPROVED).write_text("[[rule]]\neffect = 'maybe'\nrule = 'Bash'\n", "utf-8")
    with pytest.raises(Invalid):
        add(file, "Bash(ls)", Effect.ALLOW)
    assert load(file, tmp_path).mode is Mode.STRICT
