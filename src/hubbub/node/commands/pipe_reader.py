"""The output of a command, read by its keeper from three pipes: its two streams, and the sandbox's report."""

import os

from hubbub.node.commands.exec_child import CommandPipes
from hubbub.processes.output_ends import OutputEnds

MOST = 1024 * 1024  # bytes of a stream that are kept
RECENT = 4096  # bytes that show the progress of a command in the background
CHUNK = 65_536
MOST_CHUNKS = 16  # that a pipe can hold when nobody writes to it any more
STANDS = b'"exit-code"'  # part of a sandbox's final report if it stood


class PipeReader:
    """The reading ends of the pipes, and their content so far."""

    def __init__(self, pipes: CommandPipes) -> None:
        self.stdout, self.stderr, self._report = (OutputEnds(MOST // 2, MOST // 2) for _ in range(3))
        self.recent = OutputEnds(0, RECENT)
        self._sinks = {
            pipes.stdout: (self.stdout, self.recent),
            pipes.stderr: (self.stderr, self.recent),
            pipes.report: (self._report,),
        }
        for end in self.ends:
            os.set_blocking(end, False)

    @property
    def ends(self) -> tuple[int, ...]:
        """Return the descriptors with more to read."""
        return tuple(self._sinks)

    @property
    def wall_stood(self) -> bool:
        """Tell whether a reporting sandbox has reported that it stands."""
        return STANDS in self._report.text().encode()

    def hear(self, end: int) -> bool:
        """Read from one of them; False at its end, or if it has no data just now."""
        try:
            chunk = os.read(end, CHUNK)
        except BlockingIOError:
            return False
        for sink in self._sinks[end]:
            sink.feed(chunk)
        return bool(chunk)

    def hear_rest(self) -> None:
        """Read the rest; escaped processes may hold the pipes open, so this cannot wait for their end."""
        for end in self.ends:
            for _ in range(MOST_CHUNKS):
                if not self.hear(end):
                    break
