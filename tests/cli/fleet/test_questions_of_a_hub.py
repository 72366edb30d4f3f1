"""Questions of the machine that a hub runs on, through the death of that hub."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub.client import HubRefused
from tests.cli.processes import RunningHub
from tests.cli.stdio_peers import MODERN, StdioPeer


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[RunningHub]:
    """A hub with a policy that asks people about whatever writes."""
    config, work = tmp_path / "config", tmp_path / "work"
    config.mkdir(mode=0o700)
    work.mkdir()
    (config / "node.toml").write_text(f'mode = "default"\n[files]\nroots = ["{work}"]\n')
    (config / "node.toml").chmod(0o600)
    hub = RunningHub(tmp_path / "data", settings={"HUBBUB_CONFIG": str(config)})
    hub.start()
    try:
        yield hub
    finally:
        hub.close()


@pytest.mark.system
@pytest.mark.parametrize(
    ("death", "told"), [(signal.SIGKILL, "conflict"), (signal.SIGTERM, "needs_approval")]
)
def test_a_question_ends_with_the_hub_that_asked_it(
    doomed: RunningHub, tmp_path: Path, death: int, told: str
) -> None:
    """The asker hears of the end when the hub is back, people that nobody waits; asked anew it is answered and done."""
    work = tmp_path / "work"
    secret = doomed.client().post("/tokens", {"agent": "ada", "role": "member"})["secret"]
    ada = StdioPeer(doomed, MODERN, "hub", HUBBUB_TOKEN=secret)
    try:
        asked = request(ada, work)
        approval_id = doomed.until("approval.asked")["detail"]["approval_id"]
        doomed.stop(death)
        doomed.start()

        doomed.until("approval.withdrawn", lambda each: each["detail"]["approval_id"] == approval_id)
        with pytest.raises(HubRefused, match="its machine was restarted"):
            doomed.client().post(f"/approvals/{approval_id}/approve")
        ended = ada.answer(asked)["result"]
        assert (ended["isError"], ended["structuredContent"]["error"]) == (True, told)
        assert not (work / "made").exists()

        again = request(ada, work)
        second = doomed.until("approval.asked", times=2)["detail"]["approval_id"]
        doomed.client().post(f"/approvals/{second}/approve")
        assert ada.answer(again)["result"]["structuredContent"]["exit_code"] == 0
        assert (work / "made").exists()
    finally:
        ada.close()


def request(ada: StdioPeer, work: Path) -> int:
    arguments = {"machine": "localhost", "command": "touch made", "folder": str(work), "timeout": 600}
    return ada.request("tools/call", {"name": "ask", "arguments": arguments})
