"""Clients that still use an address of this machine where no hub answers any more, while one runs elsewhere on it."""

from contextlib import closing
from pathlib import Path

from hubbub.client import Hub, HubRefused, HubUnreachable
from hubbub.clients import install_record
from hubbub.clients.install_record import Install
from hubbub.model.hub_address import origin
from hubbub.terminal.loopback import is_here


def left_behind(config: Path, url: str) -> list[Install]:
    """Return the installs that a hub which runs at `url` of this machine does not serve, and no other hub does."""
    apart = [
        each for each in install_record.read(config) if is_here(each.url) and origin(each.url) != origin(url)
    ]
    return [each for each in apart if not _answers(each.url)]


def _answers(url: str) -> bool:
    with closing(Hub(url, "")) as hub:
        try:
            hub.health()
        except (HubRefused, HubUnreachable):
            return False
    return True
