"""Starting programs of hubbub: the only place that does it, so that nothing is loaded from the current folder.

Python looks for modules in the current folder, and in those of variables such as PYTHONPATH, which may name it, too.
Programs are looked for in the folders of PATH, with the same risk. Agents write to the current folder, and so does the
author of a cloned repository.
"""

import os
import sys
from collections.abc import MutableMapping

_SAFE = ("-E", "-P")  # no variables of Python, and no folder before the installed packages
_BARE = ("-I", "-S")  # no installed packages either: the quickest start possible


def program(module: str = "hubbub") -> tuple[str, ...]:
    """Return the words that run hubbub, or another of its modules, with this interpreter."""
    return (sys.executable, *_SAFE, "-X", "utf8", "-m", module)


def script(file: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the words that run one of this package's files that needs only the standard library."""
    return (sys.executable, *_BARE, os.fspath(file))


def ignore_current_folder(variables: MutableMapping[str, str]) -> None:
    """Reduce PATH to absolute folders: any other entry, also an empty one, means the current folder."""
    if "PATH" in variables:
        whole = filter(os.path.isabs, variables["PATH"].split(os.pathsep))
        variables["PATH"] = os.pathsep.join(whole) or os.defpath
