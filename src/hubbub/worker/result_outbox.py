"""The delivery of results to the hub: each is kept until the hub has it, and handed in once."""

from collections.abc import Callable

from hubbub.client import Hub, HubRefused
from hubbub.worker.name_lease import NameLease
from hubbub.worker.result_spool import ResultSpool, SpooledResult

SHUT_OUT = frozenset({401, 403})


class ResultOutbox:
    """The results of one agent on their way to the hub. Not for two threads at once."""

    def __init__(self, hub: Hub, seat: NameLease, spool: ResultSpool, say: Callable[[str], None]) -> None:
        self.hub, self.seat, self.spool, self.say = hub, seat, spool, say

    def waiting(self) -> list[str]:
        """Return the references of the stored results that are ours to hand in."""
        return [each.ref for each in self._ours()]

    def hand_in(self) -> int:
        """Hand in every result that the hub does not have yet, and return how many were stored.

        Those of another worker are handed in only once it is dead. Raises `HubUnreachable` and `HubRefused` if that
        is impossible now. A result that the hub does not want any more, because the task is another's or has
        ended, is dropped with a message.
        """
        ours = self._ours()
        for result in ours:
            try:
                self._report(result)
            except HubRefused as error:
                if not is_final(error):
                    raise
                self.say(f"the result of {result.ref} is no longer wanted: {error}")
            self.spool.drop(result)
        return len(ours)

    def _ours(self) -> list[SpooledResult]:
        return [each for each in self.spool.kept() if self.seat.speaks_for(each.instance)]

    def _tell_use(self, result: SpooledResult) -> None:
        """Report the use for a result; a repetition does no harm. A hub that refuses is not asked again."""
        if result.used:
            try:
                self.hub.post("/cost/reports", {"used": result.used})
            except HubRefused as error:
                if not is_final(error):
                    raise

    def _report(self, result: SpooledResult) -> None:
        """Hand in one result; its key makes a second time harmless."""
        self._tell_use(result)
        key = f"work-{result.name}"
        if result.epoch is not None:
            member = "result" if result.verb == "complete" else "reason"
            body = {"by": self.seat.name, "epoch": result.epoch, member: result.text}
            self.hub.post(f"/tasks/{result.ref}/{result.verb}", body, key=key)
            return
        answer = {
            "to": result.sender,
            "text": result.text,
            "sender": self.seat.name,
            "in_reply_to": result.ref,
        }
        try:
            self.hub.post("/messages", answer, key=key)
        except HubRefused as error:
            if not is_final(error):
                raise
            self.hub.ack(self.seat.name, result.ref)  # it is done, even if nobody is there to be told
            raise
        self.hub.ack(self.seat.name, result.ref)


def is_final(refusal: HubRefused) -> bool:
    """Tell whether another try would be refused, too: the hub does not want the result."""
    return not refusal.is_temporary and refusal.status not in SHUT_OUT
