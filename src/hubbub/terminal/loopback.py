"""Addresses of a hub that only its own machine reaches."""

from urllib.parse import urlsplit

from hubbub.terminal import display

HERE = frozenset({"127.0.0.1", "::1", "localhost"})


def is_here(url: str) -> bool:
    """Tell whether the address is one of loopback."""
    return urlsplit(url).hostname in HERE


def advise_for_others(url: str) -> None:
    """Say, of an address that others are to use, if it leads nowhere on their machines, and where that is mended."""
    if is_here(url):
        display.advise(
            f"Only this machine reaches {url}; others need the address of hubbub serve --public-url, see "
            f"{url}/docs/how-to/a-team-on-one-hub"
        )
