"""Extras: optional parts of the package, and how to install a missing one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from hubbub.model.errors import HubError


@dataclass(frozen=True, slots=True)
class Extra:
    """The purpose of an extra, as the subject of a sentence, and its modules."""

    purpose: str
    modules: tuple[str, ...]


EXTRAS: Mapping[str, Extra] = {
    "chat": Extra("an agent that is a model at an endpoint", ("openai", "pydantic_ai")),
    "machine": Extra("a machine that agents may use", ("cryptography", "tree_sitter", "tree_sitter_bash")),
    "meter": Extra("OTLP as protobuf", ("opentelemetry",)),
    "postgres": Extra("a hub on PostgreSQL", ("psycopg", "psycopg_pool")),
    "ssh": Extra("a shell by SSH", ("asyncssh",)),
    "tui": Extra("the dashboard in a terminal", ("textual",)),
}


class NotInstalled(HubError):
    """A feature needs an extra that is not installed."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{EXTRAS[name].purpose} needs what is not installed; get it by: pip install 'hubbub[{name}]'"
        )


def require(name: str) -> None:
    """Raise `NotInstalled` if a module of the extra is missing. Loads none of them."""
    if any(find_spec(module) is None for module in EXTRAS[name].modules):
        raise NotInstalled(name)


@contextmanager
def required() -> Iterator[None]:
    """Raise `NotInstalled` where the block imports a module of a missing extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        top = (error.name or "").partition(".")[0]
        for name, extra in EXTRAS.items():
            if top in extra.modules:
                raise NotInstalled(name) from None
        raise
