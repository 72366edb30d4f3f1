"""Names of files that are the same for everybody: the repository's one name, and the path within it."""

import socket
import time
from pathlib import Path

import pytest

from hubbub.clients.hook import git_checkout
from hubbub.model.agents import file_claims
from tests.clients.hook.hook_workbench import git, repository

SHOP = "github.com/acme/shop"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://github.com/acme/shop.git", SHOP),
        ("https://github.com/acme/shop", SHOP),
        ("https://github.com/acme/shop/", SHOP),
        ("https://ada:secret@github.com/Acme/Shop.git", SHOP),
        ("https://www.github.com/acme/shop", SHOP),
        ("http://github.com:8080/acme/shop.git", SHOP),
        ("ssh://git@github.com/acme/shop.git", SHOP),
        ("ssh://git@ssh.github.com:443/acme/shop.git", SHOP),
        ("git@github.com:acme/shop.git", SHOP),
        ("git@github.com:/acme/shop", SHOP),
        ("github.com:acme/shop", SHOP),
        ("git://github.com/acme/shop.git", SHOP),
        ("git+ssh://git@github.com/acme/shop", SHOP),
        ("HTTPS://GitHub.com/acme/shop?ref=main#readme", SHOP),
        ("https://gitlab.example.org/a/b/c/d.git", "gitlab.example.org/a/b/c/d"),
        ("ssh://git@gitea.example.org:2222/ada/notes.git", "gitea.example.org/ada/notes"),
        ("git@host.example.org:~ada/notes.git", "host.example.org/~ada/notes"),
        ("/srv/git/shop.git", None),
        ("../shop", None),
        ("file:///srv/git/shop.git", None),
        ("C:\\repositories\\shop", None),
        ("https://github.com", None),
        ("https://github.com/a/../b", None),
        ("https://github.com/a b", None),
        ("https://github.com/" + "x" * 300, None),
        ("", None),
        (":", None),
    ],
)
def test_a_remote_address_says_which_repository_it_is(address: str, name: str | None) -> None:
    """Neither the way, the user, a password, a port nor `.git` make a difference; the hub and the hook agree."""
    assert git_checkout.identity(address) == name
    assert file_claims.identity(address) == name


def known(folder: Path) -> str:
    checkout = git_checkout.checkout(git_checkout.real("a.txt", str(folder)))
    assert checkout is not None
    return checkout.repository()


@pytest.fixture(autouse=True)
def own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUBBUB_DATA", str(tmp_path / "memory"))


def test_origin_comes_first(tmp_path: Path) -> None:
    """`origin` names the repository, else `upstream`, else the first remote by name that is not local."""
    shop = repository(tmp_path / "shop", remote=None)
    git(shop, "remote", "add", "aside", "/srv/shop")
    git(shop, "remote", "add", "fork", "https://github.com/ada/shop")
    assert known(shop) == "github.com/ada/shop"
    git(shop, "remote", "add", "upstream", "https://github.com/acme/shop")
    assert known(shop) == SHOP
    git(shop, "remote", "add", "origin", "https://gitlab.com/acme/shop")
    assert known(shop) == "gitlab.com/acme/shop"


def test_a_worktree_is_its_repository(tmp_path: Path) -> None:
    """In a worktree the repository is the same and the branch another."""
    shop = repository(tmp_path / "shop")
    git(shop, "worktree", "add", "-q", "-b", "side", str(tmp_path / "deep" / "side"))

    checkout = git_checkout.checkout(str(tmp_path / "deep" / "side" / "src" / "x.py"))

    assert checkout is not None
    assert (checkout.repository(), checkout.branch(), checkout.path(f"{checkout.folder}/src/x.py")) == (
        SHOP,
        "side",
        "src/x.py",
    )


def test_a_commit_that_is_on_no_branch_has_none(tmp_path: Path) -> None:
    """Where a commit is checked out by itself there is no branch to tell."""
    shop = repository(tmp_path / "shop")
    git(shop, "checkout", "-q", "--detach")

    checkout = git_checkout.checkout(str(shop / "a.txt"))

    assert checkout is not None
    assert checkout.branch() is None


def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    """A file in a submodule belongs to that, not to the repository around it."""
    inner = repository(tmp_path / "inner", remote=None)
    shop = repository(tmp_path / "shop")
    git(shop, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib")
    git(shop / "lib", "remote", "set-url", "origin", "https://github.com/acme/lib")

    assert known(shop / "lib") == "github.com/acme/lib"
    assert known(shop) == SHOP


def test_a_repository_without_a_remote_is_named_by_its_first_commit(tmp_path: Path) -> None:
    """Git is asked for it once; afterwards it is known, even where git is not to be found."""
    shop = repository(tmp_path / "shop", remote=None)
    first = git(shop, "rev-parse", "HEAD")
    (shop / "a.txt").write_text("two\n")
    git(shop, "commit", "-qam", "more")

    assert known(shop) == f"commit/{first}"


def test_what_git_does_not_know_yet_is_named_by_its_folder(tmp_path: Path) -> None:
    """A repository without any commit is only on this machine."""
    folder = tmp_path / "new"
    folder.mkdir()
    git(folder, "init", "-q")

    assert known(folder).startswith("folder/")
    assert known(folder) != known_of_another(tmp_path / "other")


def known_of_another(folder: Path) -> str:
    folder.mkdir()
    git(folder, "init", "-q")
    return known(folder)


@pytest.mark.parametrize("name", [".git/config", "a*.txt", "what?.txt", "x" * 1100])
def test_what_the_hub_cannot_hold_is_not_claimed(tmp_path: Path, name: str) -> None:
    """Git's own files are nobody's, and a name that the hub would take for a pattern is left out."""
    shop = repository(tmp_path / "shop")
    checkout = git_checkout.checkout(str(shop / "a.txt"))

    assert checkout is not None
    assert checkout.path(str(shop / name)) is None
    assert checkout.path(str(tmp_path / "elsewhere.txt")) is None


def test_links_lead_to_the_file_itself(tmp_path: Path) -> None:
    """A link out of the repository is the file that it leads to, and one into it as well."""
    shop = repository(tmp_path / "shop")
    (shop / "out").symlink_to(tmp_path)
    (tmp_path / "in").symlink_to(shop)

    assert git_checkout.checkout(git_checkout.real("out/note.txt", str(shop))) is None
    inside = git_checkout.checkout(git_checkout.real("in/a.txt", str(tmp_path)))
    assert inside is not None
    assert inside.folder == str(shop.resolve())


@pytest.mark.parametrize("content", ["", "gitdir: nowhere", "nonsense\n", "gitdir: /\n"])
def test_what_only_looks_like_a_repository_is_none(tmp_path: Path, content: str) -> None:
    """A file named `.git` that leads nowhere makes no repository."""
    (tmp_path / ".git").write_text(content)

    assert git_checkout.checkout(str(tmp_path / "a.txt")) is None


def test_a_bare_repository_has_no_files(tmp_path: Path) -> None:
    """In a bare repository nothing is checked out, so nothing in it is claimed."""
    git(tmp_path, "init", "-q", "--bare", str(tmp_path / "bare.git"))

    assert git_checkout.checkout(str(tmp_path / "bare.git" / "description")) is None


def test_what_git_ignores_is_dirty_for_as_long_as_it_is_there(tmp_path: Path) -> None:
    """An ignored file was never committed, be it named itself or by its folder; one that is gone is not in the way."""
    shop = repository(tmp_path / "shop")
    (shop / ".gitignore").write_text("out/\n*.log\n")
    (shop / "out").mkdir()
    for name in ("out/x.txt", "out/y.txt", "b.log"):
        (shop / name).write_text("1\n")
    paths = ["out/x.txt", "out/gone.txt", "b.log", "a.txt"]

    assert git_checkout.dirty(str(shop), paths, time.monotonic() + 60) == {"out/x.txt", "b.log"}


def test_what_is_not_as_it_was_committed_is_dirty(tmp_path: Path) -> None:
    """Changed, new, staged and deleted files are, whatever they are called."""
    shop = repository(tmp_path / "shop")
    (shop / "ü b.txt").write_text("new\n")
    (shop / "a.txt").write_text("two\n")
    (shop / "b.txt").unlink()
    (shop / "sub").mkdir()
    (shop / "sub" / "c.txt").write_text("staged\n")
    git(shop, "add", "sub")
    paths = ["a.txt", "b.txt", "ü b.txt", "sub/c.txt", "gone.txt", ":(top)x"]

    assert git_checkout.dirty(str(shop), paths, time.monotonic() + 60) == {
        "a.txt",
        "b.txt",
        "ü b.txt",
        "sub/c.txt",
    }
    assert git_checkout.dirty(str(tmp_path), paths, time.monotonic() + 60) is None
    assert socket.gethostname() == git_checkout.host()
