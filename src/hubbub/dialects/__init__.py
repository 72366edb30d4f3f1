"""The tool sets that the hub speaks. A module here that defines DIALECT is all it takes to add one."""

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hubbub.dialects.dialect import Dialect

COMMON = frozenset({"call", "dialect", "reply_cache"})  # what all of them are made of


def names() -> list[str]:
    """Return the names of the dialects, from the modules in this folder; none of them is loaded."""
    return sorted({module.name for module in pkgutil.iter_modules(__path__)} - COMMON)


def discover() -> dict[str, "Dialect"]:
    """Every dialect, by name."""
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names())
    return {module.DIALECT.name: module.DIALECT for module in modules}
