"""The worker: keeps an agent present, takes its mail, runs a command for each task, and reports the result.

Threads: `run` takes from the inbox; `_link` keeps up the presence and hands in results, in that order, so that a result
reaches the hub before the hub hears that we are back and delivers the task again; `_listen` follows the inbox and wakes
`run`; each job has its own. Handing in and coming back must not interleave: both happen under one lock.
"""

import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from hubbub.client import Hub, HubRefused, HubUnreachable, LetterReply, TaskReply
from hubbub.model import ids
from hubbub.worker.job import CHECK, Assignment, Job, outcome_of_exit
from hubbub.worker.name_lease import NameLease
from hubbub.worker.result_outbox import ResultOutbox
from hubbub.worker.result_spool import ResultSpool, SpooledResult
from hubbub.worker.shell_command import CommandExit
from hubbub.worker.usage_gate import LOOK, UsageGate, told

BEAT = timedelta(seconds=10)
SAFETY_LOOK = timedelta(seconds=30)  # between checks of the inbox, in case a wake-up was lost
PAGE = 50  # letters read at once, beside those that are left for programs
MOST = 500  # letters that the hub gives at once
BACK_OFF = (0.2, 0.5, 1.0, 2.0, 5.0)  # seconds between tries to reach the hub
NEEDS_THOUGHT = ("task", "broadcast")
GONE = frozenset({404, 409})

T = TypeVar("T")


class Worker:
    """One agent. `run` blocks until `leave` was called and everything is handed in."""

    def __init__(
        self,
        hub: Hub,
        seat: NameLease,
        spool: ResultSpool,
        *,
        command: str,
        environment: Mapping[str, str],
        say: Callable[[str], None],
        concurrency: int = 1,
        timeout: timedelta | None = None,
        shows_output: bool = False,
        resume: str | None = None,
        account: str | None = None,
        program: str | None = None,
    ) -> None:
        self.hub, self.seat, self.spool = hub, seat, spool
        self.outbox = ResultOutbox(hub, seat, spool, say)
        self.command, self.environment, self.timeout = command, environment, timeout
        self.concurrency, self.say, self.shows_output = concurrency, say, shows_output
        self.resume, self.gate = resume, UsageGate(hub, seat.name, account, program, say)
        self.jobs: dict[str, Job] = {}
        self._is_held = False  # our account is paused
        self._left = 0  # letters at the last look that the running programs read themselves
        self.leaving, self.left = threading.Event(), threading.Event()
        self._wake, self._kick = threading.Event(), threading.Event()
        self._is_over = threading.Event()  # nothing runs, or running jobs are not waited for any longer
        self._handing_in = threading.Lock()
        self._is_over.set()
        self._is_connected = True
        self._was_away = False
        self._refusal: HubRefused | None = None

    def run(self, grace: timedelta) -> None:
        """Work until told to leave; then give running commands `grace` to end, hand in results, and go.

        Raises `HubRefused` if we cannot be this agent (any more).
        """
        self.outbox.hand_in()
        if not self.seat.take():
            return
        self.gate.join()
        link = threading.Thread(target=self._link, daemon=True)
        link.start()
        threading.Thread(target=self._listen, daemon=True).start()
        self.say(f"ready, with room for {self.concurrency}")
        while not self.leaving.is_set():
            self._wake.clear()
            if self._has_room():
                self._take()
            self._wake.wait((LOOK if self._is_held else SAFETY_LOOK).total_seconds())
        self._finish(grace)
        self.left.set()
        self._kick.set()
        link.join()
        if self._refusal is not None:
            raise self._refusal

    def leave(self) -> None:
        """Take nothing new, and leave when the running jobs have ended."""
        self.leaving.set()
        self._wake.set()

    def abandon(self) -> None:
        """Stop the running jobs, too."""
        self._is_over.set()

    # ---- taking ------------------------------------------------------------------------------------------------

    def _take(self) -> None:
        """Take the waiting letters, most urgent first, while there is room."""
        in_hand = (
            self._in_hand()
        )  # before we look: results handed in meanwhile may still be among the letters
        limit = min(PAGE + self._left, MOST)
        try:
            letters = self.hub.inbox(self.seat.name, limit=limit)
        except (HubUnreachable, HubRefused) as error:
            self._trouble(error)
            self._kick.set()
            return
        self._left = 0
        for letter in letters:
            if self._is_for_program(letter):
                self._left += 1
            elif letter["kind"] not in NEEDS_THOUGHT:
                self._show(letter)
            elif self._has_room() and (letter["task_id"] or letter["id"]) not in in_hand:
                if not self._may_begin():
                    return
                self._begin(letter)
        if len(letters) == limit and self._left < MOST and self._has_room():
            self._wake.set()  # there may be more after those that were only shown, or left

    def _is_for_program(self, letter: LetterReply) -> bool:
        """Tell whether a letter answers a message or task that was sent while the running programs run."""
        answered = letter["in_reply_to"]
        began = [job.assignment.began_at for job in list(self.jobs.values())]
        return answered is not None and bool(began) and ids.made_at(UUID(answered)) >= min(began)

    def _has_room(self) -> bool:
        return len(self.jobs) < self.concurrency and not self.leaving.is_set()

    def _may_begin(self) -> bool:
        """Ask whether our account is open. If the hub cannot tell, try: it refuses forbidden work."""
        was_held = self._is_held
        try:
            self._is_held = not self.gate.is_open()
        except (HubUnreachable, HubRefused):
            self._is_held = False
        if self._is_held and not was_held:
            self.say("our account is paused; what comes waits until it goes on")
        return not self._is_held

    def _in_hand(self) -> frozenset[str]:
        """Return the running jobs, and ended ones not handed in yet: none of them may begin again.

        The jobs come first: one that ends between the two looks is found by its result.
        """
        running = list(self.jobs)
        return frozenset((*running, *self.outbox.waiting()))

    def _show(self, letter: LetterReply) -> None:
        self.say(f"{letter['kind']} from {letter['author'] or letter['sender']}: {letter['text']}")
        self._patiently(lambda: self.hub.ack(self.seat.name, letter["id"]))

    def _begin(self, letter: LetterReply) -> None:
        """Accept a letter and start the command for it."""
        assignment = self._accepted(letter)
        if assignment is None:
            return
        again = f", attempt {assignment.attempt}" if assignment.attempt > 1 else ""
        self.say(f"{assignment.label} from {assignment.wanted_by}{again}")
        heard = self.say if self.shows_output else None
        job = Job(assignment, self.command, self.environment, heard, self.resume)
        self.jobs[assignment.ref] = job
        self._is_over.clear()
        job.thread = threading.Thread(target=self._see_through, args=(job,), daemon=True)
        job.thread.start()
        self._kick.set()

    def _accepted(self, letter: LetterReply) -> Assignment | None:
        """Return the assignment once the hub knows that we do it; None if it is not ours (any more)."""
        ref = letter["task_id"]
        if ref is None:
            return Assignment.of_broadcast(letter, self._attempt(letter["id"]))
        with self._handing_in:
            task = self._patiently(lambda: self.hub.task(ref))
            if task is None or task["status"] != "delivered":
                return None
            task = self._patiently(lambda: self._start(ref))
        return Assignment.of_task(task) if task else None

    def _attempt(self, ref: str) -> int:
        """Note that a broadcast begins, and return the number of the attempt; 1 if the disk does not take the note."""
        try:
            return self.spool.begin(ref)
        except OSError as error:
            self.say(f"{error.strerror}: it is not noted on disk that a broadcast is begun")
            return 1

    def _start(self, ref: str) -> TaskReply | None:
        """Accept and start a task. If an answer was lost on the way, go on from the task's present status."""
        task = self.hub.task(ref)
        if task["assignee"] != self.seat.name:
            return None
        steps = {"delivered": ("accept", "start"), "accepted": ("start",), "working": ()}
        for verb in steps.get(task["status"], ()):
            task = self.hub.step(ref, verb, by=self.seat.name, epoch=task["epoch"])
        return task if task["status"] == "working" else None

    # ---- working -----------------------------------------------------------------------------------------------

    def _see_through(self, job: Job) -> None:
        """Watch over a job until its command has ended, and store its result for handing in."""
        verb, text = self._outcome(job)
        result = None if job.is_lost.is_set() else self._keep(job, verb, text)
        with self._handing_in:
            if result is not None and job.is_lost.is_set():
                self.spool.drop(result)
            elif result is not None and job.epoch != result.epoch:  # delivered to us again meanwhile
                self.spool.drop(result)
                self._keep(job, verb, text)
            del self.jobs[job.assignment.ref]
        self.say(f"{job.assignment.label}: {_how_it_went(job, verb, text)}")
        if not self.jobs:
            self._is_over.set()
        self._kick.set()
        self._wake.set()

    def _outcome(self, job: Job) -> tuple[str, str]:
        """Run the command to its end, again after each usage limit that stops it; return the report for the hub."""
        while True:
            try:
                job.start(self.timeout)
            except OSError as error:
                return "fail", f"the command cannot be started: {error.strerror}"
            while not job.program.ended.wait(CHECK.total_seconds()):
                self._check(job)
            ended = job.program.outcome()
            if job.stopped is not None:
                verb, text = outcome_of_exit(ended)
                return verb, text if verb == "complete" else f"{job.stopped}\n{text}"
            if job.is_lost.is_set() or not self._waits_out_limit(job, ended) or job.is_lost.is_set():
                return outcome_of_exit(ended)
            job.go_on(ended)
            self.say(f"{job.assignment.label} goes on")

    def _waits_out_limit(self, job: Job, ended: CommandExit) -> bool:
        """Tell whether a usage limit stopped the command; if so, pause our account and return when it goes on."""
        if not self.gate.shows_limit(ended):
            return False
        left = self._patiently(lambda: self.gate.report(ended))
        if left is None:
            if self.leaving.is_set():
                job.lose()
            return False
        self.say(f"{job.assignment.label}: a usage limit is reached; {told(left)}, and stays ours")
        job.waits = True
        self.gate.wait(job.is_lost, lambda: self._look_after(job))
        job.waits = False
        return True

    def _look_after(self, job: Job) -> None:
        """Check that a waiting job is still ours; a worker that leaves does not wait for it."""
        if self.leaving.is_set():
            job.lose()
        self._check(job)

    def _keep(self, job: Job, verb: str, text: str) -> SpooledResult:
        """Store a result on disk, where it outlives us."""
        assignment = job.assignment
        result = SpooledResult(
            ref=assignment.ref,
            epoch=job.epoch,
            sender=assignment.sender,
            verb=verb,
            text=text,
            instance=str(self.seat.instance),
            used=job.used(),
        )
        try:
            self.spool.keep(result)
        except OSError as error:
            self.say(
                f"{assignment.label}: {error.strerror}: its result is not on disk, and lost if this worker dies"
            )
            self.spool.hold(result)
        return result

    def _check(self, job: Job) -> None:
        """Report the job's progress, and check whether it is still ours. Without a hub it simply goes on."""
        if job.epoch is None or job.is_lost.is_set() or not self._is_connected:
            return
        try:
            with self._handing_in:  # so that it does not change hands, even into ours, while we ask
                reason = self._why_lost(job)
            self._stop_if_told(job)
        except HubUnreachable:
            return
        except HubRefused as error:
            reason = str(error) if error.status in GONE else None
        if reason is not None:
            self.say(f"{job.assignment.label} is no longer ours: {reason}")
            job.lose()

    def _stop_if_told(self, job: Job) -> None:
        """End the command if a budget, stop or pause ends its agent's work; it has a moment to print its results."""
        if job.stopped is None and not job.waits and (why := self.gate.stopped()) is not None:
            job.stopped = why
            self.say(f"{job.assignment.label} is stopped: {why}")
            job.program.stop()

    def _why_lost(self, job: Job) -> str | None:
        """Report progress, if there is any; else look at the task. Return why it is lost; None if it is ours."""
        ref, output = job.assignment.ref, job.news()
        if output is not None:
            report = {"by": self.seat.name, "epoch": job.epoch, "output": output}
            self.hub.post(f"/tasks/{ref}/progress", report)
            return None
        task = self.hub.task(ref)
        if (task["epoch"], task["status"]) == (job.epoch, "working"):
            return None
        return f"it is {task['status']}, with {task['assignee'] or 'nobody'}"

    # ---- handing in, and presence ------------------------------------------------------------------------------

    def _link(self) -> None:
        """Hand in results and renew the lease of the name, regularly and after each event."""
        tries = 0
        while not self.left.is_set():
            self._kick.clear()
            try:
                with self._handing_in:
                    if self.left.is_set():
                        return
                    if self.outbox.hand_in():
                        self._wake.set()  # jobs in hand until now may have come again
                    self._was_away |= self.seat.beat(self._doing())
                    if self._was_away:
                        self._carry_on()
                        self._was_away = False
                self._connected()
                tries, pause = 0, BEAT.total_seconds()
            except (HubUnreachable, HubRefused) as error:
                self._trouble(error)
                pause = BACK_OFF[min(tries, len(BACK_OFF) - 1)]
                tries += 1
            self._kick.wait(pause)

    def _connected(self) -> None:
        if not self._is_connected:
            self._is_connected = True
            self.say("connected to the hub again")
            self._wake.set()

    def _doing(self) -> list[str]:
        return [job.assignment.title for job in self.jobs.values()]

    def _carry_on(self) -> None:
        """Take our jobs again that the hub delivered anew because it thought us gone, without a second run."""
        for job in self.jobs.values():
            if job.epoch is None:
                continue
            task = self._start(job.assignment.ref)
            if task is None:
                job.lose()
            else:
                job.epoch = task["epoch"]

    def _listen(self) -> None:
        """Follow the inbox; each event is a reason to look."""
        after: str | None = None
        tries = 0
        while not self.left.is_set():
            try:
                for frame in self.hub.follow(self.seat.name, after=after):
                    after, tries = frame.id or after, 0
                    self._wake.set()
            except (HubUnreachable, HubRefused):
                self._kick.set()
            self.left.wait(BACK_OFF[min(tries, len(BACK_OFF) - 1)])
            tries += 1

    def _finish(self, grace: timedelta) -> None:
        """Wait for the running jobs, stop those that do not end, hand in, and give up the lease of the name."""
        for job in list(self.jobs.values()):
            if job.waits:
                job.lose()
        if self.jobs:
            self.say(f"waiting for {len(self.jobs)} running; a second signal stops them")
        self._is_over.wait(grace.total_seconds())
        stopped = list(self.jobs.values())
        for job in stopped:
            self.say(f"{job.assignment.label} is stopped; it stays to be done")
            job.lose()
        for job in stopped:
            job.thread.join()
        self._hand_in_finally()

    def _hand_in_finally(self) -> None:
        for pause in (*BACK_OFF, None):
            try:
                with self._handing_in:
                    self.outbox.hand_in()
                    self.seat.give_up()
                    self.left.set()
                return
            except (HubUnreachable, HubRefused) as error:
                if pause is None or isinstance(error, HubRefused):
                    kept = len(self.spool.kept())
                    self.say(f"{error}; {kept} results are kept and handed in at the next start")
                    return
                self.left.wait(pause)

    # ---- failures ----------------------------------------------------------------------------------------------

    def _trouble(self, error: HubUnreachable | HubRefused) -> None:
        """Go on without the hub for a while; if it rejects us, stop and leave."""
        if isinstance(error, HubRefused) and not error.is_temporary:
            self._refusal = error
            self.abandon()
            self.leave()
        elif self._is_connected:
            self._is_connected = False
            self.say(f"{error}; working on, and trying again")

    def _patiently(self, ask: Callable[[], T]) -> T | None:
        """Return the result of `ask` as soon as the hub answers; None if it refuses, or if we are told to leave."""
        tries = 0
        while not self.leaving.is_set():
            try:
                return ask()
            except HubRefused as error:
                if not error.is_temporary:
                    self.say(str(error))
                    return None
            except HubUnreachable as error:
                self._trouble(error)
            self.leaving.wait(BACK_OFF[min(tries, len(BACK_OFF) - 1)])
            tries += 1
        return None


def _how_it_went(job: Job, verb: str, text: str) -> str:
    if job.is_lost.is_set():
        return "stopped"
    return "done" if verb == "complete" else f"failed: {text.splitlines()[0]}"
