"""The hubs of `deploy/compose.hubs.yaml` as processes: with its settings, over one PostgreSQL, behind its balancer."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import yaml
from psycopg.conninfo import conninfo_to_dict

from hubbub.prove.processes import free_port
from tests.cli.processes import RunningHub
from tests.support.tools import needed
from tests.support.waiting import until

SBIN = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"
COMPOSED: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parents[2] / "deploy" / "compose.hubs.yaml").read_text("utf-8")
)
NAMES = [name for name, service in COMPOSED["services"].items() if service.get("image") == "hubbub"]
PORT = 8420  # of everyone, in a network of containers


class Behind:
    """Three hubs that can be killed, and the address at which a balancer hands each request to the next of them."""

    def __init__(self, folder: Path, database: str) -> None:
        self.balancer_port = free_port()
        self.url = f"http://127.0.0.1:{self.balancer_port}"
        given = {"HUBBUB_DATABASE": database, "HUBBUB_PUBLIC_URL": self.url}
        settings = {name: given[name] for name in COMPOSED["services"][NAMES[0]]["environment"]}
        self.hubs = [RunningHub(folder / name, free_port(), settings=settings) for name in NAMES]

    def configuration(self) -> str:
        """The balancer's file, with the addresses of this machine."""
        text: str = COMPOSED["configs"]["balancer"]["content"]
        text = text.replace(f"bind :{PORT}", f"bind 127.0.0.1:{self.balancer_port}")
        for name, hub in zip(NAMES, self.hubs, strict=True):
            text = text.replace(f"{name}:{PORT}", f"127.0.0.1:{hub.port}")
        return text

    def replace(self, number: int) -> None:
        """Kill one of the hubs, as by `kill -9`, and start it again."""
        self.hubs[number].stop(signal.SIGKILL)
        self.hubs[number].start()

    def are_reached(self) -> bool:
        """Tell whether the balancer reaches a hub."""
        with suppress(httpx2.TransportError):
            return httpx2.get(f"{self.url}/ready").is_success
        return False


@contextmanager
def behind(folder: Path, postgres_url: str) -> Iterator[Behind]:
    """The hubs and their balancer, which run until the context ends."""
    haproxy = needed(shutil.which("haproxy", path=SBIN), "haproxy")
    parts = conninfo_to_dict(postgres_url)
    made = Behind(folder, f"postgresql:///{parts.pop('dbname')}?{urlencode(parts)}")
    configuration = folder / "haproxy.cfg"
    configuration.write_text(made.configuration(), "utf-8")
    try:
        for hub in made.hubs:
            hub.start()
        with subprocess.Popen([haproxy, "-db", "-q", "-f", str(configuration)]) as balancer:
            try:
                until(made.are_reached, "the balancer")
                yield made
            finally:
                balancer.kill()
    finally:
        for hub in made.hubs:
            hub.close()
