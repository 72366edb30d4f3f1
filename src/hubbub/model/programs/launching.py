"""How hubbub starts programs: the only place that says it, so that nothing comes from where it is started.

Python looks for modules in the folder it is started in, and where variables such as PYTHONPATH say, which may mean
that folder too; a program is looked for where PATH says, of which the same is true. Agents write there, and so does
whoever made a repository that was cloned.
"""

import os
import sys
from collections.abc import MutableMapping

_SAFE = ("-E", "-P")  # no variable of Python's, and no folder in front of what is installed
_BARE = ("-I", "-S")  # no installed packages either: the quickest start there is


def program(module: str = "hubbub") -> tuple[str, ...]:
    """The words that run hubbub itself, or another of its modules, with this interpreter."""
    return (sys.executable, *_SAFE, "-X", "utf8", "-m", module)


def script(file: str | os.PathLike[str]) -> tuple[str, ...]:
    """The words that run a file of ours that needs the standard library alone."""
    return (sys.executable, *_BARE, os.fspath(file))


def ignore_current_folder(variables: MutableMapping[str, str]) -> None:
    """Have programs looked for in whole paths alone: any other entry of PATH, and an empty one, is where one is."""
    if "PATH" in variables:
        whole = filter(os.path.isabs, variables["PATH"].split(os.pathsep))
        variables["PATH"] = os.pathsep.join(whole) or os.defpath
