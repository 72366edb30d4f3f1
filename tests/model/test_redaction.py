"""Redaction: the text that is taken out as a secret, and the text that stays."""

import random
import string
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies

from hubbub.model.redaction import REDACTED, Redactor
from tests.support.each_row import each_row

CODE = Path(__file__).resolve().parents[2] / "src"
KNOWN = "correct-horse-battery"
ALPHABET = string.ascii_letters + string.digits


def made(length: int, alphabet: str = ALPHABET, seed: int = 1) -> str:
    """Something that chance made."""
    return "".join(random.Random(seed).choices(alphabet, k=length))


TOKENS = {
    "known": KNOWN,
    "person": f"utok_{made(43)}",
    "project": f"ntok_{made(43)}",
    "aws": f"AKIA{made(16, string.ascii_uppercase + string.digits)}",
    "github": f"ghp_{made(36)}",
    "github, new": f"github_pat_{made(22)}_{made(59)}",
    "gitlab": f"glpat-{made(20)}",
    "slack": f"xoxb-{made(12, string.digits)}-{made(24)}",
    "openai": f"sk-proj-{made(48)}",
    "anthropic": f"sk-ant-api03-{made(40)}-{made(20)}",
    "stripe": f"sk_live_{made(24)}",
    "google": f"AIza{made(35)}",
    "npm": f"npm_{made(36)}",
    "pypi": f"pypi-{made(60)}",
    "jwt": f"eyJ{made(20)}.eyJ{made(40)}.{made(43)}",
    "key": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{made(64)}\n{made(64)}\n-----END OPENSSH PRIVATE KEY-----",
    "key, cut": f"-----BEGIN PRIVATE KEY-----\n{made(64)}",
}


@pytest.mark.parametrize("secret", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("around", ["{}", "say {} please", "X={}", '"{}"', "https://x.org/?t={}", "a\n{}\nb"])
def test_a_secret_is_taken_out_wherever_it_stands(secret: str, around: str) -> None:
    """Known secrets, and text in the form of a token or a private key, are gone; the text around them stays."""
    text = Redactor([KNOWN]).text(around.format(secret))
    assert secret not in text
    assert text == around.format(REDACTED) or secret.startswith("-----")


@each_row(
    ("line", "secret"),
    [
        ("password=hunter2", "hunter2"),
        ("DB_PASSWORD: 's3cr3t'", "s3cr3t"),
        ('{"password": "hunter"}', "hunter"),
        ("mysql --password=hunter2 db", "hunter2"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
        ("api_key: 0123456789abcdef0123", "0123456789abcdef0123"),
        ('const authToken = "Zm9vYmFyMTIzNDU2Nzg5MA"', "Zm9vYmFyMTIzNDU2Nzg5MA"),
        ("SESSION_SECRET=550e8400-e29b-41d4-a716-446655440000", "550e8400"),
        ("Authorization: Bearer abcdefghijklmnopqrst", "abcdefghijklmnopqrst"),
        ("authorization: basic dXNlcjpodW50ZXIyaHVudGVyMg==", "dXNlcjpodW50ZXIyaHVudGVyMg=="),
        ("postgresql://ada:hunter2@db.example.org/x", "hunter2"),
    ],
)
def test_what_a_secret_is_set_to_is_taken_out(line: str, secret: str) -> None:
    """A value that something called a secret, a token, a key or a password is set to is gone, and its name stays."""
    text = Redactor().text(line)
    assert secret not in text
    assert REDACTED in text
    assert text.startswith(line[:3])


@each_row(
    "text",
    [
        "commit 3f2a9c1d0b8e7f6a5d4c3b2a19080706f5e4d3c2",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "token = make_token(owner, 16)",
        "token: str | None = None",
        "password = getpass()",
        "password=password",
        "API_KEY=$OPENAI_API_KEY",
        'key = "${{ secrets.GITHUB_TOKEN }}"',
        'token_file = "/run/secrets/token1234567890abcdef"',
        "max_tokens=4096, tokenizer='gpt-neox-20b-tokenizer-fast2'",
        "primary_key=True",
        "a password: at least 8 characters",
        "task-1234567890-something-long-and-harmless",
        "https://example.org:8080/path@2",
        "mask-image-with-a-very-long-class-name-1",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    """Commits, ids, hashes, pictures, code and prose are not secrets."""
    assert Redactor([KNOWN]).text(text) == text


@pytest.mark.system
def test_there_are_no_secrets_in_a_body_of_code() -> None:
    """A whole program stays as it is."""
    for file in CODE.rglob("*.py"):
        content = file.read_text("utf-8")
        if file.name != "redaction.py":
            assert Redactor().text(content) == content, file


def test_values_are_redacted_to_their_depth() -> None:
    """In JSON, texts and names are redacted at every depth, and what is no text stays."""
    value = {"a": [KNOWN, {"b": f"x {KNOWN}", KNOWN: 1}], "n": 1.5, "t": None, "f": True}
    assert Redactor([KNOWN]).value(value) == {
        "a": [REDACTED, {"b": f"x {REDACTED}", REDACTED: 1}],
        "n": 1.5,
        "t": None,
        "f": True,
    }


def test_a_secret_may_be_learnt_later() -> None:
    """A secret that becomes known while the machine runs is taken out from then on; one as short as a word never is."""
    redactor = Redactor()
    redactor.learn(["made-up-today", "cat"])
    assert redactor.text("made-up-today and a cat") == f"{REDACTED} and a cat"


def test_a_secret_within_another_leaves_nothing_of_it() -> None:
    """The longer one goes first."""
    assert Redactor(["abcdefgh", "abcdefghijkl"]).text("abcdefghijkl") == REDACTED


@pytest.mark.system
@hypothesis.given(
    before=strategies.text(),
    after=strategies.text(),
    secret=strategies.text(alphabet=ALPHABET + "-_+/=", min_size=12, max_size=60),
)
def test_what_is_known_is_never_there_afterwards(before: str, after: str, secret: str) -> None:
    """Whatever a known secret is, and whatever stands around it, it does not come through."""
    hypothesis.assume(secret not in REDACTED)
    assert secret not in Redactor([secret]).text(f"{before}{secret}{after}")


@each_row(
    "piece",
    [
        "-eyJaaaaaaaa",
        "password=",
        "-----BEGIN PRIVATE KEY-----",
        "sk-",
        "xoxb-",
        "://a:",
        "token_",
        "bearer ",
        "eyJ.",
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    """Half a million of what begins like a secret is gone through once, and not once for each."""
    text = piece * (500_000 // len(piece))
    assert len(Redactor([KNOWN]).text(text)) <= len(text) * 2
