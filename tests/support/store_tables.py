"""The tables of the store, as its modules declare them."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import hubbub.store
from hubbub.store.table import Table


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """The modules of a package."""
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        yield import_module(found.name)


TABLES: list[Table[Any]] = [
    value for module in modules(hubbub.store) for value in vars(module).values() if isinstance(value, Table)
]
