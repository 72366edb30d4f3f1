"""The environment of commands: only the listed variables. Tokens and keys stay with the hub."""

from collections.abc import Collection, Mapping

PASSED_ON = frozenset({"LANG", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV"})
PASSED_ON_PREFIX = "LC_"
FILES_PREFIX = "XDG_"  # prefix of the variables for a program's own files
FIXED = {"TERM": "dumb"}
PATH = "/usr/local/bin:/usr/bin:/bin"  # if the machine sets none


def passed_on(variables: Mapping[str, str], home: str) -> dict[str, str]:
    """Return the environment of a command on a machine with these `variables`.

    `HOME` is the home that the gate knows: `~` has to mean the same to both.
    """
    kept = {
        name: value
        for name, value in variables.items()
        if name in PASSED_ON or name.startswith(PASSED_ON_PREFIX)
    }
    return {"PATH": PATH, **kept, **FIXED, "HOME": home}


def trusted(variables: Mapping[str, str], home: str, own: Collection[str] = ()) -> dict[str, str]:
    """Return the environment of the operator's own program: with the places of its files, and the variables `own`."""
    kept = {name: value for name, value in variables.items() if name in own or name.startswith(FILES_PREFIX)}
    return passed_on(variables, home) | kept
