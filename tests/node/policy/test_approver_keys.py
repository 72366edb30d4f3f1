"""Signatures of people, for a machine that does not take its hub's word for a yes."""

from dataclasses import replace
from pathlib import Path

import pytest

from hubbub.model.errors import Invalid
from hubbub.model.fleet.approval_signatures import statement
from hubbub.model.fleet.calls import Answered, Principal, Question, Ruling
from hubbub.node.policy.approver_keys import is_signed, make_key, public_key, public_part, sign

ME = "machine-1"
QUESTION = Question(
    who=Principal(project="shop", name="ada"),
    node="box",
    tool="execute_command",
    arguments={"command": "git push"},
    folder="/srv",
    shown="git push",
    reason="it changes what others have",
    digest="a" * 64,
)
YES = Answered(Ruling.APPROVED, "approval-1", "ann")


def said(question: Question = QUESTION, *, machine_id: str = ME, approval_id: str = "approval-1") -> bytes:
    """Return the text signed by a person who is shown the question."""
    return statement(
        machine_id=machine_id,
        approval_id=approval_id,
        digest=question.digest,
        who=question.who.name,
        node=question.node,
        tool=question.tool,
        folder=question.folder,
        shown=question.shown,
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "approver.key"


@pytest.fixture
def approvers(file: Path) -> tuple[bytes, ...]:
    """Two people; the key of the second is in the file."""
    return public_key(make_key(file.with_name("other"))), public_key(make_key(file))


def test_a_signed_yes_counts(file: Path, approvers: tuple[bytes, ...]) -> None:
    """Any one of those that the policy names is enough."""
    assert is_signed(approvers, ME, QUESTION, replace(YES, signature=sign(file, said())))


def test_without_approvers_no_signature_is_wanted() -> None:
    """Then the machine takes its hub's word."""
    assert is_signed((), ME, QUESTION, YES)


@pytest.mark.parametrize("signature", [None, "", "x", "====", "A" * 88, "ü" * 88])
def test_a_yes_without_a_signature_does_not_count(
    approvers: tuple[bytes, ...], signature: str | None
) -> None:
    """None, or what is none."""
    assert not is_signed(approvers, ME, QUESTION, replace(YES, signature=signature))


@pytest.mark.parametrize(
    "other",
    [
        said(machine_id="machine-2"),
        said(approval_id="approval-2"),
        said(replace(QUESTION, digest="b" * 64)),
        said(replace(QUESTION, shown="ls")),
        said(replace(QUESTION, folder="/tmp")),
        said(replace(QUESTION, tool="read_file")),
        said(replace(QUESTION, node="web1")),
        said(replace(QUESTION, who=Principal(project="shop", name="eve"))),
        b"",
    ],
)
def test_a_signature_for_anything_else_does_not_count(
    file: Path, approvers: tuple[bytes, ...], other: bytes
) -> None:
    """For another machine, question or call, or for other words than those that the machine means."""
    assert not is_signed(approvers, ME, QUESTION, replace(YES, signature=sign(file, other)))


def test_a_signature_of_anybody_else_does_not_count(file: Path, approvers: tuple[bytes, ...]) -> None:
    """A key that the policy does not name is nobody's."""
    make_key(file.with_name("stranger"))
    signature = sign(file.with_name("stranger"), said())
    assert not is_signed(approvers, ME, QUESTION, replace(YES, signature=signature))


def test_a_person_signs_what_they_see(file: Path, approvers: tuple[bytes, ...]) -> None:
    """The text shown to people is the one that the machine would have written out."""
    hidden = replace(QUESTION, shown="git\u202e push\n")
    seen = replace(hidden, shown=r"git\u202e push\n")
    assert is_signed(approvers, ME, hidden, replace(YES, signature=sign(file, said(seen))))


def test_a_key_is_made_once_and_is_its_owners(file: Path) -> None:
    """Nobody else may read it, and it is never replaced."""
    public = make_key(file)
    assert public_part(file) == public
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        make_key(file)


@pytest.mark.parametrize(
    "written", ["", "ed25519:", "ed25519:AAAA", "ed25519:" + "A" * 44, "rsa:x", "A" * 43 + "="]
)
def test_what_is_no_key_is_refused(written: str) -> None:
    """A sentence says what one looks like."""
    with pytest.raises(Invalid, match="approvers: a key is"):
        public_key(written)


def test_a_file_without_a_key_is_refused(file: Path) -> None:
    """Whatever else is in it."""
    file.parent.mkdir()
    for content in (b"", b"x", b"AAAA"):
        file.write_bytes(content)
        with pytest.raises(Invalid, match="holds no key"):
            sign(file, b"")
