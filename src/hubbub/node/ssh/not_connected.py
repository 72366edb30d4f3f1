"""The reason why there is no shell on another machine."""

from hubbub.model.fleet.calls import RefusalCode


class NotConnected(Exception):
    """The sentence for the caller, and its code. It reveals nothing of the SSH configuration and of keys."""

    def __init__(self, code: RefusalCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def not_followed(why: str) -> NotConnected:
    """Return the refusal caused by the user's or the system's own SSH configuration."""
    return NotConnected(
        RefusalCode.FAILED, f"the SSH configuration of this machine cannot be followed: {why}"
    )
