"""The process of a machine that has joined: linked to its hub until a signal, with a log of its own."""

import asyncio
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click
import uvloop

from hubbub.client import running_hub
from hubbub.daemons.membership import Membership
from hubbub.dialects.cmdop import DIALECT
from hubbub.model import data_folder
from hubbub.model.redaction import Redactor
from hubbub.node.audit.witness import open_witness
from hubbub.node.factory import open_node
from hubbub.node.link.daemon import serve
from hubbub.node.link.journal import JournalFailed
from hubbub.node.link.websocket import LinkRefused, SocketLost
from hubbub.node.local_node import LocalNode
from hubbub.node.policy import node_policy as policies
from hubbub.node.requests.hub_client import HubClient
from hubbub.node.sandbox import choose
from hubbub.serve.monitoring import logging_setup as logs
from hubbub.settings import Settings
from hubbub.terminal import display

LOG = Path("logs", "node.jsonl")  # in the machine's folder; the log of a hub may be beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDaemon:
    """The process of one machine: its membership, settings, folder and policy."""

    membership: Membership
    settings: Settings
    folder: Path
    policy_file: Path
    as_json: bool

    def run(self) -> None:
        """Serve the hub until a signal. Raises `click.ClickException` if the hub rejects this machine."""
        level = self.settings.log_level
        shown = "warning" if level == "info" else level  # `_greet` prints the rest
        logs.configure(form=self.settings.log_format, level=level, shown=shown)
        logs.keep_file(self.folder / LOG, Redactor(self._secrets).text)
        try:
            with suppress(asyncio.CancelledError):  # by a signal
                uvloop.run(self._serve())
        except LinkRefused as error:
            again = (
                "join again with a new code: hubbub node invite there, and here hubbub node run --join CODE"
            )
            raise click.ClickException(display.clean(f"{self.membership.name}: {error}; {again}")) from None
        except JournalFailed as error:
            raise click.ClickException(display.clean(f"{self.membership.name}: {error}")) from None

    async def _serve(self) -> None:
        this = asyncio.current_task()
        assert this is not None
        # Without that signal it was started to outlive its terminal.
        is_hung_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
        for each in (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if is_hung_up else [])):
            asyncio.get_running_loop().add_signal_handler(each, this.cancel)
        await serve(
            url=self.address,
            token=self.membership.token,
            project=self.membership.project,
            machine=self._machine,
            data=self.folder,
            catalogue=DIALECT.catalogue(),
            labels=self.membership.labels,
            witness=open_witness(self.settings.data),
            ready=self._greet,
        )

    def address(self) -> str:
        """Return the hub's current address; a data folder's hub may have another port after each start.

        Raises `SocketLost` while that hub does not run, so that the key is not sent to another program on this machine.
        """
        known = self.membership.url or running_hub(self.settings.data)
        if known is None:
            raise SocketLost("the hub of the data folder does not run")
        return known

    def _machine(self, hub: HubClient) -> LocalNode:
        return open_node(
            data=self.folder,
            log_file=self.folder / LOG,
            config=self.settings.config,
            policy_file=self.policy_file,
            cwd=Path.cwd(),
            hub=hub,
            catalogue=DIALECT.catalogue(),
            secrets=self._secrets,
            name=self.membership.name,
            keeps_agents=True,
        )

    @property
    def _secrets(self) -> list[str]:
        return [self.membership.token, *data_folder.secrets(self.settings.data)]

    def _greet(self) -> None:
        """Print the link and the machine's policy: a sentence, or with `--json` an object."""
        policy = policies.load(self.policy_file, Path.cwd())
        facts = {
            "node": self.membership.name,
            "url": self.address(),
            "project": self.membership.project,
            "policy": str(self.policy_file) if self.policy_file.exists() else None,
            "mode": policy.mode,
            "fault": policy.fault,
            "sandbox": choose(network=policy.network).name,
            "agent": policy.runtime.name if policy.runtime is not None else None,
        }
        display.show_json(facts) if self.as_json else display.show(_sentence(facts), lines=False)


def _sentence(facts: dict[str, str | None]) -> str:
    rules = facts["policy"] or "the shipped policy"
    if facts["fault"] is not None:
        rules = f"everything is denied, as {rules} does not load: {facts['fault']}"
    return (
        f"{facts['node']} is linked to {facts['url']} (project {facts['project']}); "
        f"{rules}, mode {facts['mode']}; sandbox {facts['sandbox']}; agent {facts['agent'] or 'none'}"
    )
