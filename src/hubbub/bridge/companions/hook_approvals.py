"""Asking people, by way of the hub, about a hook that nobody has seen."""

from collections.abc import Callable
from pathlib import Path

from hubbub.client import Hub
from hubbub.model.errors import HubError

WHY = "it came with the project, and nobody has seen it, or it has changed since; a yes lets it run here from now on"


class HookApprovals:
    """The questions of one client. `hub` returns the present hub, `data` is the machine's own folder."""

    def __init__(self, hub: Callable[[], Hub], data: Path) -> None:
        self._hub, self._data = hub, data

    async def allows(self, command: str, root: Path, agent: str) -> bool:
        """Ask whether the hook may run in the folder, and remember a yes. Without an answer it may not.

        It waits as long as the machine's policy says; if that is strict, nobody is asked.
        """
        # The gate and its modules are loaded only if there are hooks that nobody has seen.
        from hubbub import settings
        from hubbub.model.fleet.calls import Principal, Question, Ruling, call_digest
        from hubbub.node.gate import hook_trust
        from hubbub.node.gate.host_facts import describe
        from hubbub.node.policy import node_policy
        from hubbub.node.requests.http_transport import HttpTransport
        from hubbub.node.requests.hub_client import HubClient as NodeHub
        from shellgate.decision import Mode

        rules = node_policy.load(settings.read().config / node_policy.FILE, root)
        if rules.mode is Mode.STRICT:
            return False
        present, node = self._hub(), describe(self._data).name
        who, arguments = Principal(project=present.project or "", name=agent), {"command": command}
        question = Question(
            who=who,
            node=node,
            tool="hook",
            arguments=arguments,
            folder=str(root),
            shown=command,
            reason=WHY,
            digest=call_digest(who, "hook", arguments, str(root), node),
        )
        wire = HttpTransport(lambda: self._hub().url, present.token, node, project=present.project)
        try:
            answered = await NodeHub(wire).ask(question, rules.approval_timeout)
        except HubError:
            return False
        finally:
            await wire.close()
        if answered.ruling is Ruling.APPROVED:
            hook_trust.trust([command], root, self._data)
        return answered.ruling is Ruling.APPROVED
