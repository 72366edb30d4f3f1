"""The address of a hub, as people give it."""

from urllib.parse import urlsplit

SCHEMES = frozenset({"http", "https"})


def origin(url: str) -> str:
    """Return the hub's address in that of any of its pages, as people copy it: a hub answers at the root of a host."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in SCHEMES and parts.netloc else url
