"""The present address of the hub: a restarted one may be at another address than before."""

from hubbub.client import Hub, running_hub
from hubbub.terminal.command import Choice


class HubLocator:
    """A chosen hub, spoken to with one token for as long as we live."""

    def __init__(self, choice: Choice, hub: Hub) -> None:
        self._choice, self._hub = choice, hub

    def address(self) -> str:
        return (self._choice.url or running_hub(self._choice.data) or self._hub.url).rstrip("/")

    def hub(self) -> Hub:
        """Return the hub at its present address."""
        if (address := self.address()) != self._hub.url:
            self._hub = Hub(address, self._hub.token, project=self._hub.project)
        return self._hub
