"""Protected names: those no agent writes (F4), those it does not even read (F5), and those that may hold secrets.

Names are compared as by a file system that ignores capitals and the ways to compose a letter, whether or not this one
does: the same call must not be refused on one machine and go through on another. Nothing is looked up here.
"""

import fnmatch
import re
import unicodedata
from functools import lru_cache

from shellgate import triggers

TEMPLATES = ("example", "sample", "template", "dist")
DOCUMENTS = ("md", "markdown", "rst", "adoc")  # they speak of environment files

_GIT = re.compile(r"\.git[ .]*(:.*)?|git~\d+")  # also as Windows would have it

_SHARED = frozenset({".config", ".local", ".github"})  # folders of many programs
_Pattern = tuple[re.Pattern[str], ...]


def _compiled(path: str) -> _Pattern:
    return tuple(re.compile(fnmatch.translate(part)) for part in path.split("/"))


def _table() -> tuple[dict[str, list[tuple[_Pattern, str]]], list[tuple[_Pattern, str]]]:
    """Return the triggers by the first name of each path, and those whose first name is a pattern."""
    by_name: dict[str, list[tuple[_Pattern, str]]] = {}
    wide: list[tuple[_Pattern, str]] = []
    for kind in triggers.KINDS:
        for path in (path for paths in kind.files.values() for path in paths):
            first = path.partition("/")[0]
            entries = wide if "*" in first else by_name.setdefault(first, [])
            entries.append((_compiled(path), kind.why))
    return by_name, wide


_TRIGGERS, _WIDE = _table()
_LONGEST = max(len(pattern) for entries in _TRIGGERS.values() for pattern, _why in entries)
_FIRST = re.compile("|".join(f"(?:{pattern[0].pattern})" for pattern, _why in _WIDE))
_HOLDERS = frozenset(
    name
    for name, entries in _TRIGGERS.items()
    if name.startswith(".") and name not in _SHARED and any(len(each) > 1 for each, _why in entries)
)  # the folders of one program, as a project has them

_SYSTEM = frozenset({("etc",), ("system",), ("private", "etc")})
OWN_FOLDERS = (
    ".config/hubbub",
    ".local/share/hubbub",
    ".local/state/hubbub",
    ".cache/hubbub",
    "Library/Application Support/hubbub",
)  # beneath a home, by default
CLOSED_IN_HOMES = (".ssh", "Library/Keychains", *OWN_FOLDERS)
_OWN = tuple(tuple(folder.lower().split("/")) for folder in OWN_FOLDERS)
_OF_PROCESSES = frozenset({"environ", "mem", "fd", "map_files", "root", "cwd"})

_SECRET_NAMES = re.compile(
    r"\.(?:envrc|netrc|npmrc|pypirc|git-credentials|pgpass|my\.cnf|vault-token|htpasswd|s3cfg|boto|dockercfg|gnupg)"
    r"|_netrc|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|(?:credentials|client_secret)\.json|secrets\.(?:json|toml|ya?ml)"
    r"|.+\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|tfstate)"
)
_SECRET_PLACES = (
    (".aws", "credentials"),
    (".kube", "config"),
    (".docker", "config.json"),
    (".config", "gh", "hosts.yml"),
    (".config", "gcloud"),
    (".azure",),
)


def folded(name: str) -> str:
    """Return the name without invisible or barely visible differences: capitals, composition, invisible characters."""
    if name.isascii():
        return name.lower()
    seen = "".join(each for each in name if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", seen).casefold())


@lru_cache(maxsize=4096)
def components(path: str) -> tuple[str, ...]:
    """The names on an absolute path, folded; `.` and double slashes are no names, `..` undoes the one before it."""
    found: list[str] = []
    for name in path.split("/"):
        if name == "..":
            del found[-1:]
        elif name not in ("", "."):
            found.append(folded(name))
    return tuple(found)


def unwritten(names: tuple[str, ...]) -> str | None:
    """F4: return why these folded names are written, linked, moved and deleted by people only; else None."""
    for at, name in enumerate(names):
        if is_environment(name):
            return "it is an environment file, where secrets and what programs do are set"
        if _GIT.fullmatch(name):
            return "it is Git's own, where hooks and configuration run as programs"
        for pattern, why in _TRIGGERS.get(name, ()):
            if _fits(pattern, names[at:]):
                return why
        if (found := _FIRST.fullmatch(name)) is not None:
            for pattern, why in _WIDE:
                if pattern[0].fullmatch(found[0]) and _fits(pattern, names[at:]):
                    return why
    return _holder(names[-1]) if names else None


def leads_on(names: tuple[str, ...]) -> str | None:
    """Say in a clause why a folder of these folded names may come to hold files of F4; else None."""
    if unwritten(names):
        return "only people change its content"
    for length in range(1, min(len(names), _LONGEST) + 1):
        last = names[-length:]
        for pattern, why in _TRIGGERS.get(last[0], ()):
            if len(pattern) > length and _fits(pattern[:length], last):
                return f"{why}, if it is called so"
    return None


def unread(names: tuple[str, ...]) -> str | None:
    """F5: return why agents neither read nor write these folded names, from the root on; else None."""
    if names[:1] in _SYSTEM or names[:2] in _SYSTEM:
        return "it is the system's configuration"
    if names[:1] == ("proc",) and _is_of_process(names):
        return "it shows what is inside other processes, or is a way around all that is refused"
    if ".ssh" in names:
        return "keys are kept there"
    if _holds(names, ("library", "keychains")):
        return "passwords are kept there"
    if any(_holds(names, each) for each in _OWN):
        return "it is hubbub's own: its configuration, tokens and audit log"
    return None


def is_environment(name: str) -> bool:
    """Tell whether a folded name is `.env`, or `.env.` with an ending that is neither a template's nor a document's."""
    return name == ".env" or (
        name.startswith(".env.") and name.rpartition(".")[2] not in (*TEMPLATES, *DOCUMENTS)
    )


def may_be_secret(names: tuple[str, ...]) -> bool:
    """Tell whether a file at these folded names may hold secrets, so that the shipped policy asks before reading it."""
    if any(is_environment(name) or _SECRET_NAMES.fullmatch(name) for name in names):
        return True
    return any(_holds(names, each) for each in _SECRET_PLACES)


def _fits(pattern: _Pattern, names: tuple[str, ...]) -> bool:
    """Tell whether the first of these names match a pattern."""
    return len(names) >= len(pattern) and all(
        part.fullmatch(name) for part, name in zip(pattern, names, strict=False)
    )


def _holder(name: str) -> str | None:
    """Return why a folder must not be replaced as a whole: the files kept in it would be replaced, too."""
    return "what programs start from is kept in it" if name in _HOLDERS else None


def _is_of_process(names: tuple[str, ...]) -> bool:
    """Tell whether the names are of `/proc/<process>/…`, or `/proc/<process>/task/<thread>/…`."""
    of_thread = names[2:3] == ("task",)
    return bool(_OF_PROCESSES.intersection(names[4:5] if of_thread else names[2:3]))


def _holds(names: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Tell whether the wanted names follow each other somewhere."""
    if wanted[0] not in names:
        return False
    return any(names[at : at + len(wanted)] == wanted for at in range(len(names)))
