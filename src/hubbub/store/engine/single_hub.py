"""What a store does about other hubs where there can be none."""

from collections.abc import Callable


class SingleHub:
    """The part of `Store` that is about other hubs, for an engine that one hub has to itself."""

    def be_seen(self, hub: str) -> None:
        """Nobody looks."""

    def tell_hubs(self, news: str) -> None:
        """Nobody hears."""

    def on_news(self, hear: Callable[[str], None]) -> None:
        """Nobody tells."""
