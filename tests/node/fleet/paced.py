"""`hubbub`, with everything about links so many times as fast as usual: `python paced.py 15 node run …`.

`FLEET_CLOCK` puts the process's clock wrong, by so many seconds.
"""

import os
import sys
import time
from datetime import timedelta
from typing import cast

SECOND = 1_000_000_000  # nanoseconds


def mislead(seconds: int) -> None:
    """Let the clock give the wrong time of day."""
    right = time.time_ns
    time.time_ns = lambda: right() + seconds * SECOND
    time.time = lambda: time.time_ns() / SECOND


def hurry(times: float) -> None:
    """Let ten minutes pass in ten minutes divided by `times`."""
    from hubbub.node.link.websocket import LinkTimings as NodePace
    from hubbub.serve.fleet.timings import Timings as HubPace
    from hubbub.serve.http import server

    for pace in (NodePace, HubPace):
        usual = cast(dict[str, timedelta], pace.__init__.__kwdefaults__)
        usual.update({name: span / times for name, span in usual.items()})
    server.PING, server.PONG = server.PING / times, server.PONG / times


if __name__ == "__main__":
    mislead(int(os.environ.get("FLEET_CLOCK", "0")))
    hurry(float(sys.argv.pop(1)))
    sys.argv[0] = "hubbub"

    from hubbub.__main__ import main

    main()
