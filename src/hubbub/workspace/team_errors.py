"""Errors of a team's files, as sentences. They are apart from the reader so that it need not be loaded for them."""

from hubbub.model.errors import HubError


class TeamError(HubError):
    """A team file that cannot be used; the sentence names the file, without its path, and what is wrong where."""


def shown(text: str) -> str:
    """A name from a file as a sentence can hold it."""
    return repr(text if len(text) <= 64 else text[:64] + "…")
