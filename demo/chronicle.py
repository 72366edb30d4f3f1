"""The chronicle: everything that the hub says happened, followed live, from its first moment and through its deaths."""

from collections.abc import Iterator

from hubbub.client import ActivityReply, Frame, Hub, HubUnreachable

PAGE = 500
START = "0"


class Chronicle:
    """The activity log as it came over the line. Waiting for something is reading on until it is there."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.activities: list[ActivityReply] = []
        self._frames: Iterator[Frame] = iter(())
        self.follow()

    def follow(self) -> None:
        """Go on after what was read last; for when the hub is back."""
        last = str(self.activities[-1]["id"]) if self.activities else START
        self._frames = self.hub.follow(after=last)

    def wait(
        self,
        kind: str,
        *,
        task: str | None = None,
        agent: str | None = None,
        message: str | None = None,
        node: str | None = None,
    ) -> ActivityReply:
        """Wait for and return the first activity of that kind about that task, agent, message or machine."""
        wanted = {"kind": kind, "task_id": task, "agent": agent, "message_id": message, "node": node}
        looked_at = 0
        while True:
            for activity in self.activities[looked_at:]:
                told = {**activity, "node": activity["detail"].get("node")}
                if all(value in (None, told[name]) for name, value in wanted.items()):
                    return activity
            looked_at = len(self.activities)
            self._read()

    def written(self) -> list[ActivityReply]:
        """Return the whole log, which the hub gives page by page."""
        found: list[ActivityReply] = []
        while True:
            last = found[-1]["id"] if found else 0
            page = self.hub.get("/activity", after=last, limit=PAGE)["activity"]
            found += page
            if not page:
                return found

    def catch_up(self) -> None:
        """Read on until what is the last of the log by now."""
        self.read_until(self.hub.get("/activity", limit=1)["activity"][0]["id"])

    def read_until(self, last: int) -> None:
        """Read on until the activity of that id."""
        while not self.activities or self.activities[-1]["id"] < last:
            self._read()

    def _read(self) -> None:
        """The next frame; the stream may have ended with a hub that is back already."""
        try:
            self.activities.append(next(self._frames).data)  # type: ignore[arg-type]  # as /events gives them
        except (HubUnreachable, StopIteration):
            self.follow()
            self.activities.append(next(self._frames).data)  # type: ignore[arg-type]
