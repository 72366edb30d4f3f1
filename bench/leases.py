"""Cost of a free lease: acquired and released over HTTP, and around a command by `hubbub with`.

Each number is of `CALLS` calls, the forms in turn. Run with `python -m bench.leases`.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from statistics import median, quantiles

from bench.serving import Served, served
from hubbub.client import Hub

CALLS = 60
AIM = 10  # milliseconds at the median for the grant alone
SETTINGS = {"HUBBUB_PROJECT": "default"}


def main() -> None:
    """Print how long a lease takes, and a command under one."""
    with served() as hub:
        print(f"{'':48} p50 ms  p95 ms   (aim: {AIM} ms for the grant)")
        _over_http(hub)
        around = {**os.environ, **SETTINGS, "HUBBUB_URL": hub.url, "HUBBUB_TOKEN": hub.secret}
        program = [sys.executable, "-P", "-m", "hubbub", "with"]
        for name, command in (
            ("true, alone", ["true"]),
            ("python -c pass", [sys.executable, "-c", "pass"]),
            ("python with click, which all commands have", [sys.executable, "-c", "import click"]),
            ("hubbub with db -- true", [*program, "db", "--", "true"]),
        ):
            _measure(name, lambda command=command: _run(command, around))  # type: ignore[misc]


def _over_http(hub: Served) -> None:
    """Measure the grant over a kept connection: the hub's time and one round trip."""
    client = Hub(hub.url, hub.secret, project="default")
    held: list[str] = []

    def ask() -> None:
        held.append(client.post("/leases", {"things": ["db"]})["lease"]["id"])

    def give_back() -> None:
        client.delete(f"/leases/{held.pop()}")

    _measure("POST /leases, free, over a connection that stays", ask, after=give_back)
    client.close()


def _measure(name: str, deed: Callable[[], None], after: Callable[[], None] | None = None) -> None:
    times = []
    for _ in range(CALLS):
        began = time.perf_counter()
        deed()
        times.append((time.perf_counter() - began) * 1000)
        if after is not None:
            after()
    print(f"{name:48} {median(times):6.1f}  {quantiles(times, n=20)[-1]:6.1f}")


def _run(command: list[str], environment: Mapping[str, str]) -> None:
    subprocess.run(command, env=environment, check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
