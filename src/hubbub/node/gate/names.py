"""Protected names: what no agent writes (F4), what it does not even read (F5), and what may hold secrets.

Names are compared as a file system would that ignores capitals and the ways to compose a letter, whether or not this
one does: the same call must not be refused on one machine and go through on another. Nothing is looked up here.
"""

import re
import unicodedata
from functools import lru_cache

TEMPLATES = ("example", "sample", "template", "dist")

_STARTUP = re.compile(
    r"\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|login|logout|cshrc|tcshrc|kshrc|mkshrc"
    r"|yashrc|xonshrc|shrc|shinit|zshrc|zshenv|zprofile|zlogin|zlogout|xprofile|xinitrc|xsession|xsessionrc"
    r"|pam_environment|bashrc\.d|bash_profile\.d|profile\.d|zshrc\.d)|config\.fish"
)
_STARTUP_FOLDERS = frozenset({"fish", "powershell", "nushell", "xonsh", "elvish"})  # beneath `.config`
_CLIENTS = frozenset({".mcp.json", ".claude.json"})
_CLIENT_SETTINGS = re.compile(r"settings(\..+)?\.json")  # beneath `.claude`: hooks are in them
_GIT = re.compile(r"\.git[ .]*(:.*)?|git~\d+")  # also as Windows would have it

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
    """The name without what differs only to the eye, or not even to it: capitals, composition, invisible signs."""
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
    """F4: why what is at these folded names is written, linked, moved and deleted by people only; else None."""
    for name, before in zip(names, ("", *names), strict=False):
        if is_environment(name):
            return "it is an environment file, where secrets and what programs do are set"
        if _GIT.fullmatch(name):
            return "it is Git's own, where hooks and configuration run as programs"
        if _STARTUP.fullmatch(name) or (before == ".config" and name in _STARTUP_FOLDERS):
            return "it is read by a shell when it starts"
        if name in _CLIENTS or (before == ".claude" and _CLIENT_SETTINGS.fullmatch(name)):
            return "it tells a client of agents which programs to start"
    return None


def unread(names: tuple[str, ...]) -> str | None:
    """F5: why what is at these folded names, from the root on, is neither read nor written by agents; else None."""
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
    """Whether a folded name is `.env`, or `.env.` with an ending that is no template's."""
    return name == ".env" or (name.startswith(".env.") and name.rpartition(".")[2] not in TEMPLATES)


def may_be_secret(names: tuple[str, ...]) -> bool:
    """Whether a file at these folded names may hold secrets, so that the shipped policy asks before it is read."""
    if any(is_environment(name) or _SECRET_NAMES.fullmatch(name) for name in names):
        return True
    return any(_holds(names, each) for each in _SECRET_PLACES)


def _is_of_process(names: tuple[str, ...]) -> bool:
    """Of `/proc/<process>/…`, or `/proc/<process>/task/<thread>/…`."""
    of_thread = names[2:3] == ("task",)
    return bool(_OF_PROCESSES.intersection(names[4:5] if of_thread else names[2:3]))


def _holds(names: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Whether the wanted names follow each other somewhere."""
    if wanted[0] not in names:
        return False
    return any(names[at : at + len(wanted)] == wanted for at in range(len(names)))
