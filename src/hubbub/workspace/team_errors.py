"""Errors of a team's files, as sentences. They are apart from the parser so that it need not be loaded for them."""

from hubbub.model.errors import HubError


class TeamError(HubError):
    """A team file that cannot be used; the sentence names the file, without its path, and the fault."""


def shown(text: str) -> str:
    """Return a name from a file in a form fit for a sentence."""
    return repr(text if len(text) <= 64 else text[:64] + "…")
