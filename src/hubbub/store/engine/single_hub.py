"""The part of `Store` about other hubs, for an engine without any."""

from collections.abc import Callable


class SingleHub:
    """The part of `Store` about other hubs, for an engine that serves only one hub."""

    def be_seen(self, hub: str) -> None:
        """Do nothing: no other hub looks."""

    def tell_hubs(self, news: str) -> None:
        """Do nothing: no other hub listens."""

    def on_news(self, hear: Callable[[str], None]) -> None:
        """Do nothing: no other hub speaks."""
