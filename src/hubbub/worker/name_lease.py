"""The lease of an agent's name: one live worker holds it at a time."""

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta

from hubbub import __version__
from hubbub.client import Hub, HubRefused, quoted
from hubbub.worker.instance import Instance

TTL = timedelta(seconds=30)
CONFLICT, MISSING = 409, 404


class NameLease:
    """The presence of one agent, held by this process."""

    def __init__(
        self, hub: Hub, name: str, *, runtime: str, workdir: str, say: Callable[[str], None]
    ) -> None:
        self.hub, self.name, self.say = hub, name, say
        self.instance = Instance.mine()
        self.interrupted = threading.Event()
        self._path = f"/agents/{quoted(name)}/presence"
        self._about = {
            "runtime": runtime,
            "hostname": self.instance.host,
            "workdir": workdir,
            "version": __version__,
        }
        self._opened_at: int | None = None

    def take(self) -> bool:
        """Become the agent, or return False if `interrupted` first.

        If another is that agent, wait until it falls silent; raise the `HubRefused` if it does not.
        """
        try:
            self._put(take=True)
        except HubRefused as error:
            if error.status != CONFLICT:
                raise
            self._take_from(error)
        return self._opened_at is not None

    def beat(self, doing: Sequence[str]) -> bool:
        """Send a heartbeat with our condition; return whether the hub had thought us gone, and we are back now."""
        before = self._opened_at
        try:
            self._put(condition="working" if doing else "idle", doing="; ".join(doing) or "")
        except HubRefused as error:
            if error.status != MISSING:
                raise
            self._put(take=True)
        return self._opened_at != before

    def give_up(self) -> None:
        """Leave; our unfinished tasks go back, or wait for the next holder of the name."""
        self.hub.delete(self._path, instance=str(self.instance))

    def speaks_for(self, instance: str) -> bool:
        """Tell whether results of that instance are ours to hand in: they are our own, or their maker is dead."""
        maker = Instance.parse(instance)
        return maker == self.instance or maker is None or maker.is_dead

    def _take_from(self, refusal: HubRefused) -> None:
        agent = self.hub.agent(self.name)
        holder = Instance.parse(agent["instance"])
        if holder is not None and holder.is_dead:
            self.say(f"{self.name} was held by process {holder.pid}, which is dead; taking over")
            self._put(take=True, instead_of=agent["instance"])
            return
        if holder is not None and holder.is_here:
            raise HubRefused(refusal.status, refusal.code, f"{self.name} {holder.whereabouts}")
        self.say(f"{refusal}; waiting for that")
        silence = max(0, (agent["expires_at"] or 0) - agent["now"]) / 1000
        if not self.interrupted.wait(silence + 1):
            self._put(take=True)

    def _put(self, *, take: bool = False, **more: object) -> None:
        reply = self.hub.put(
            self._path,
            {
                "instance": str(self.instance),
                "condition": "idle",
                "ttl_seconds": int(TTL.total_seconds()),
                "take": take,
                **self._about,
                **more,
            },
        )
        self._opened_at = reply["presence"]["opened_at"]
