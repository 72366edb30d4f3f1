"""Orders for keepers: the command, how to start it, and the keeper's facts about its surroundings."""

import json
import socket
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # keepers do not need them, and should be small
    import asyncio

    from hubbub.node.sandbox import Launch

LENGTH = struct.Struct(">I")


class CommandSpec(NamedTuple):
    """One command, for JSON: times are in seconds."""

    argv: list[str]
    environment: dict[str, str]
    report: int | None  # the descriptor on which a sandbox reports that it stands
    ruleset: dict[str, Any] | None  # of Landlock
    record: Mapping[str, object]  # its record in the background
    folder: str  # of that record
    data: str  # the machine's own folder
    in_background: bool
    most_in_background: int  # on one machine at the same time
    timeout: float | None  # in the foreground
    lasting: float | None  # the same, once it is in the background

    @property
    def is_walled(self) -> bool:
        """Tell whether it runs behind a program that is its sandbox, and ends with it."""
        return self.report is not None

    @classmethod
    def of(cls, launch: "Launch", **more: Any) -> "CommandSpec":
        """Make the order for a command from its launch."""
        return cls(
            argv=list(launch.argv),
            environment=dict(launch.environment),
            report=launch.report,
            ruleset=None if launch.ruleset is None else launch.ruleset._asdict(),
            **more,
        )

    def write_to(self, line: "asyncio.StreamWriter") -> None:
        """Write the order to a keeper."""
        told = json.dumps(self).encode()
        line.write(LENGTH.pack(len(told)) + told)

    @classmethod
    def read_from(cls, line: socket.socket) -> "CommandSpec":
        """Read the order. Raises `EOFError` if its sender has gone."""
        (length,) = LENGTH.unpack(_exactly(line, LENGTH.size))
        return cls(*json.loads(_exactly(line, length)))


def _exactly(line: socket.socket, length: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < length:
        piece = line.recv(length - len(pieces))
        if not piece:
            raise EOFError
        pieces += piece
    return bytes(pieces)
