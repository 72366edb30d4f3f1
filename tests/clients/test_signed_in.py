"""The account of a client's program: a name made from its id, and never a secret."""

import json
from pathlib import Path

from hubbub.clients import signed_in

KEPT = {
    ".claude.json": {
        "oauthAccount": {"accountUuid": "5f3c", "emailAddress": "eve@example.org"},
        "apiKey": "sk-1",
    },
    ".codex/auth.json": {"OPENAI_API_KEY": "sk-2", "tokens": {"account_id": "5f3c", "access_token": "eyJ"}},
    ".gemini/google_accounts.json": {"active": "eve@example.org", "old": []},
}


def test_an_account_is_known_by_a_fingerprint(tmp_path: Path) -> None:
    """Two machines that are signed in to one account have one name for it; nothing of what is kept is in that."""
    names = []
    for home in (tmp_path / "one", tmp_path / "other"):
        for where, kept in KEPT.items():
            (home / where).parent.mkdir(parents=True, exist_ok=True)
            (home / where).write_text(json.dumps(kept))
        names.append([signed_in.account(program, home, {}) for program in ("claude", "codex", "gemini")])
    assert names[0] == names[1]
    assert len({*names[0]}) == 3
    assert not any(secret in str(names) for secret in ("sk-1", "sk-2", "eyJ", "eve", "5f3c"))


def test_what_cannot_be_read_is_no_account(tmp_path: Path) -> None:
    """A program that is not signed in, or that is not known, has no account."""
    (tmp_path / ".claude.json").write_text("[1]")
    found = [signed_in.account(each, tmp_path, {}) for each in ("claude", "codex", "other")]
    assert found == [None, None, None]


def test_a_key_is_another_account(tmp_path: Path) -> None:
    """A program that may work with a key of its own, or that keeps its sign-in elsewhere, is not taken for that one."""
    (tmp_path / ".claude.json").write_text(json.dumps(KEPT[".claude.json"]))
    for name in ("ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR"):
        assert signed_in.account("claude", tmp_path, {name: "x"}) is None
