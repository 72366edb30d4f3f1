"""The tool sets that the hub speaks. A module here that defines DIALECT is all it takes to add one."""

import importlib
import pkgutil

from hubbub.dialects.dialect import Dialect


def discover() -> dict[str, Dialect]:
    """Every dialect, by name."""
    found: dict[str, Dialect] = {}
    for module in pkgutil.iter_modules(__path__):
        dialect = getattr(importlib.import_module(f"{__name__}.{module.name}"), "DIALECT", None)
        if isinstance(dialect, Dialect):
            found[dialect.name] = dialect
    return found
