"""A client's own permission prompts, put to the people of the hub: the first answer counts, there or here.

The client's prompt stays unchanged. The hub is asked beside it, or before it if the client shows none while its
hook runs (`HOLDING`), and then for a short while only. Without a hub, an answer, or the whole call to show, nothing is
returned, and the client asks as usual. A yes counts for the very call that was shown.

While a question waits, its mark is on a shelf of the run of the client. The run's next hooks remove it, once the
client has been answered here: then the question is withdrawn, as it is when the client ends.
"""

from __future__ import annotations

import json
import os
import threading
import time

from hubbub.clients.hook import event, git_checkout, hook_state, http_request
from hubbub.clients.hook.event import DENY, GRANT, HookOutput, Reply, facts, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub.clients.hook.event import Event
    from hubbub.clients.hook.hub_target import Target

VARIABLE = "HUBBUB_PROMPT_SECONDS"
BESIDE = 600.0  # seconds for an answer, if the client's own prompt is shown meanwhile,
HELD = 30.0  # and if it is held up
MOST = 3600.0
SLACK = 5.0  # seconds more, for the final messages
ASKING = ("claude-code", "codex", "opencode")  # clients whose prompts are put to the hub
HOLDING = ("codex",)  # clients that show no prompt before their hook has ended
DIALOGS = (
    "AskUserQuestion",
    "ExitPlanMode",
)  # tools that are themselves a talk with the person: a yes would skip it
BRIEF = 2.0  # seconds for the hub to take a question, and before one that holds the client up is given up
POLL = 90.0  # seconds for one wait at the hub, which ends it sooner
AGAIN = 1.0  # seconds between two tries, while the hub is away
LOOK = 0.25  # seconds between two checks whether the client was answered here
LARGEST = 100_000  # characters of a call with invisible ones written out: the hub shows no more than that
SHELF = "prompts "
OK = 200


def patience(client: str) -> float:
    """Return how many seconds people have for an answer; 0: they are not asked."""
    given = os.environ.get(VARIABLE, "")
    if given.isdigit():
        return min(float(given), MOST)
    return HELD if client in HOLDING else BESIDE


def settle(told: Event) -> None:
    """Remove the marks of prompts that this event shows to be answered: its tool ran, or the turn is over."""
    if told.moment == event.AFTER:
        if told.call is not None:
            hook_state.drop(SHELF + told.instance, told.call)
    elif told.moment not in (event.START, event.BEFORE, event.ASK):
        hook_state.clear(SHELF + told.instance)


def said(name: str, reply: Reply) -> HookOutput:
    """Return the answer in the form that Claude Code and Codex share."""
    if reply.decision not in (GRANT, DENY):
        return HookOutput()
    no = {"behavior": "deny", "message": reply.text}
    decision = {"behavior": "allow"} if reply.decision == GRANT else no
    return HookOutput(json.dumps({"hookSpecificOutput": {"hookEventName": name, "decision": decision}}))


def ask(target: Target, told: Event) -> Reply:
    """Ask the people of the hub whether the client may use the tool, until they answer or their time is over."""
    seconds = patience(told.client)
    question = _question(target, told) if seconds > 0 and told.tool not in DIALOGS else None
    if question is None:
        return Reply()
    prompt = _Prompt(target, told, question, seconds)
    return prompt.answer() if prompt.put() else Reply()


class _Prompt:
    """One question at the hub, for as long as this process waits for its answer."""

    def __init__(self, target: Target, told: Event, question: dict[str, object], seconds: float) -> None:
        import secrets
        import uuid

        self._target, self._digest = target, question["digest"]
        self._mark = (SHELF + told.instance, told.call or "")
        self._until = time.monotonic() + seconds
        self._away_for = BRIEF if told.client in HOLDING else seconds
        self._id = str(uuid.uuid4())
        self._asked = {
            "approval_id": self._id,
            "receipt": secrets.token_hex(16),
            "patience_seconds": seconds,
            "elicitation": False,
            "question": question,
        }
        self._is_over = False

    def put(self) -> bool:
        """Put the question; False if the hub does not take it, or the client's next hooks could not settle it."""
        hook_state.keep(*self._mark, str(os.getpid()))
        if hook_state.recall(*self._mark) is None:
            return False
        self._end_with_client()
        is_put = False
        try:
            is_put = self._request("put", time.monotonic() + BRIEF)[0] == OK
        finally:
            if not is_put:
                self._end()
        return is_put

    def answer(self) -> Reply:
        """Wait for the answer. An absent hub may come back, unless the client is held up meanwhile."""
        away_since = None
        while (now := time.monotonic()) < self._until:
            try:
                status, answer = self._request("ask", min(now + POLL, self._until + SLACK))
            except (OSError, ValueError):
                away_since = away_since or now
                if now - away_since > self._away_for:
                    break
                time.sleep(AGAIN)
                continue
            away_since = None
            if status != OK:
                break
            if answer.get("value") is not None:
                return self._reply(facts(answer["value"]))
        self._end()
        return Reply()

    def _reply(self, value: dict[str, object]) -> Reply:
        self._end()
        if (value.get("approval_id"), value.get("digest")) != (self._id, self._digest):
            return Reply()
        if value.get("ruling") == "approved":
            return Reply(GRANT)
        by = text(value.get("by")) or "a person"
        return (
            Reply(DENY, f"{by} said no to this, at the hub") if value.get("ruling") == "denied" else Reply()
        )

    def _end(self) -> None:
        self._is_over = True
        hook_state.drop(*self._mark)

    def _request(self, need: str, until: float) -> tuple[int, dict[str, object]]:
        question = self._asked["question"]
        body = {"node": facts(question)["node"], "need": need, "content": self._asked}
        return http_request.call(self._target, "POST", "/desk", body, until=until)

    def _end_with_client(self) -> None:
        """Withdraw the question and end this process when the client is answered here, or ends."""
        import signal

        from hubbub.clients.hook import wake_poll

        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, name):  # Windows has no hang-up
                signal.signal(getattr(signal, name), lambda *_: self._withdraw())
        parents = wake_poll.client_processes()

        def look() -> None:
            while hook_state.recall(*self._mark) is not None and wake_poll.client_processes() == parents:
                time.sleep(LOOK)
            if not self._is_over:
                self._withdraw()

        threading.Thread(target=look, daemon=True).start()

    def _withdraw(self) -> None:
        try:
            self._end()
            self._request("withdraw", time.monotonic() + BRIEF)
        finally:
            os._exit(0)


def _question(target: Target, told: Event) -> dict[str, object] | None:
    """Shape the question; None if the client does not tell the whole call, or people could not see all of it."""
    if told.call is None or not told.tool:
        return None
    import hashlib

    given = facts(json.loads(told.call)[1])
    shown = _shown(told, given)
    if not shown.strip() or len(json.dumps(shown)) > LARGEST:
        return None
    node = git_checkout.host() or "its machine"
    bound = json.dumps([target.agent, told.call, told.cwd, node])
    why = text(given.get("description"))
    return {
        "who": {"project": "", "name": target.agent},
        "node": node,
        "tool": told.tool,
        "arguments": given,
        "folder": told.cwd,
        "shown": shown,
        "reason": f"{told.client} asks at its own prompt" + (f"; the agent says: {why}" if why else ""),
        "digest": hashlib.sha256(bound.encode("utf-8", "surrogatepass")).hexdigest(),
        "kind": "prompt",
        "dangerous": False,
    }


def _shown(told: Event, given: dict[str, object]) -> str:
    """Return all arguments of the tool: a command as it is, and everything else by its name."""
    command = told.command if told.tool_kind == event.SHELL else None
    named = {name: each for name, each in given.items() if name not in ("command", "description")}
    if command is None:
        return json.dumps(given, ensure_ascii=False)
    return f"{command}  {json.dumps(named, ensure_ascii=False)}" if named else command
