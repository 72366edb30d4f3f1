"""`hubbub with` and `hubbub lease`: commands that run while they hold what they need."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.cli.processes import PROGRAM, RunningHub, ends, plain_environment
from tests.support.waiting import patience, until

LONG = "3600"  # seconds that no test lives to see
SHORT = "5s"  # the shortest time that a lease may have
Run = Callable[..., "subprocess.Popen[str]"]

# Says so where it is not alone, by a lock that the kernel takes from whoever is killed; else writes its fence down.
ALONE = """
import fcntl, os, sys
with open(sys.argv[1], "a") as file:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.write("two\\n")
    file.write(os.environ["HUBBUB_LEASE"] + "\\n")
    file.flush()
    for _ in range(20000):
        os.getpid()
"""


@pytest.fixture
def run(hub: RunningHub) -> Iterator[Run]:
    """Return a function that starts `hubbub with`; processes that still run in the end are killed."""
    started: list[subprocess.Popen[str]] = []

    def start(*words: str, of: RunningHub = hub) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [*PROGRAM, "with", *words],
            env=plain_environment(of.data, HUBBUB_PROJECT=of.project),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for each in started:
        each.kill()
        each.communicate()


def listed(hub: RunningHub) -> list[tuple[str, str]]:
    return [(" ".join(each["things"]), each["status"]) for each in hub.client().get("/leases")["leases"]]


def until_listed(hub: RunningHub, *wanted: tuple[str, str]) -> None:
    until(lambda: listed(hub) == [*wanted], f"the leases {wanted}", seen=lambda: listed(hub))


def begun(run: Run, *words: str) -> "subprocess.Popen[str]":
    """Start a command that lasts, and wait until it runs: killed before that, it leaves its lease to its time."""
    process = run(*words, "--", "sh", "-c", f"echo on; exec sleep {LONG}")
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    return process


def test_a_command_runs_while_it_holds_what_it_needs(hub: RunningHub) -> None:
    """The command knows its lease, its fence and which of what is counted it has; its exit status is the answer."""
    hub.json("lease", "capacity", "gpu", "4")
    said = "echo $HUBBUB_LEASE_THINGS, $HUBBUB_LEASE, $HUBBUB_LEASE_UNITS_GPU, $HUBBUB_LEASE_ID; exit 7"

    done = hub.run("with", "gpu:2", "port:8000", "--", "sh", "-c", said)

    things, fence, units, lease = done.stdout.strip().split(", ")
    assert (done.returncode, things, fence, units) == (7, "gpu:2 port:8000", "1", "0,1")
    granted = hub.until("lease.granted")
    assert granted["detail"]["lease_id"] == lease
    until_listed(hub)


def test_the_command_has_the_process(run: Run) -> None:
    """Nothing stands between the command and whoever started it: signals, terminal and exit status are its own."""
    process = run(
        "db", "--", "sh", "-c", "trap 'echo asked; exit 3' TERM; echo $$; while :; do sleep 0.05; done"
    )
    assert process.stdout is not None
    assert int(process.stdout.readline()) == process.pid

    process.terminate()

    assert process.communicate(timeout=patience()) == ("asked\n", "")
    assert process.returncode == 3


def test_what_a_killed_command_held_is_free_at_once(hub: RunningHub, run: Run) -> None:
    """A command that is killed gives back what it held, long before its time is over."""
    process = begun(run, "db", "--ttl", LONG)

    process.kill()

    until_listed(hub)


class _Deadly(BaseHTTPRequestHandler):
    """Passes calls on to a hub, and kills their caller when the first is answered, before it hears the answer."""

    hub: RunningHub
    victim: "subprocess.Popen[str] | None" = None

    def do_POST(self) -> None:
        victim, status, body = type(self).victim, *self._passed_on()
        if victim is not None and victim.poll() is None:
            victim.kill()
            victim.wait()
        self._say(status, body)

    def do_DELETE(self) -> None:
        self._say(*self._passed_on())

    def do_GET(self) -> None:
        self._say(*self._passed_on())

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""

    def _passed_on(self) -> tuple[int, bytes]:
        with closing(HTTPConnection("127.0.0.1", self.hub.port)) as upstream:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            upstream.request(self.command, self.path, content, dict(self.headers))
            answer = upstream.getresponse()
            return answer.status, answer.read()

    def _say(self, status: int, body: bytes) -> None:
        with suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)


def test_what_is_granted_to_a_killed_process_is_free(hub: RunningHub, run: Run) -> None:
    """A kill between the grant and the start of the command gives the lease back, long before its time is over."""
    _Deadly.hub, _Deadly.victim = hub, None
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Deadly)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        _Deadly.victim = run("db", "--ttl", "1d", "--url", url, "--", "sleep", LONG)
        hub.until("lease.granted")
        assert _Deadly.victim.wait() == -signal.SIGKILL
        until(lambda: not listed(hub), "the lease of a killed process to be free", seen=lambda: listed(hub))
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_who_waits_says_why_and_then_runs(hub: RunningHub, run: Run) -> None:
    """A command that has to wait says who holds what it needs, and runs when that is free."""
    first = begun(run, "db")
    second = run("db", "port:1", "--ttl", LONG, "--", "echo", "mine")
    until_listed(hub, ("db", "held"), ("db port:1", "waiting"))
    assert second.stderr is not None
    assert second.stderr.readline().startswith("hubbub: waiting: db has been held by 'owner' on ")

    first.kill()

    assert second.communicate(timeout=patience())[0] == "mine\n"


def test_who_stops_waiting_leaves_no_place(hub: RunningHub, run: Run) -> None:
    """A command that is interrupted or killed while it waits gives up its place without having run."""
    run("db", "--", "sleep", LONG)
    until_listed(hub, ("db", "held"))
    for number, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
        second = run("db", "--ttl", LONG, "--", "echo", "mine")
        until_listed(hub, ("db", "held"), ("db", "waiting"))

        second.send_signal(number)

        assert second.communicate(timeout=patience())[0] == ""
        assert second.returncode == code
        until_listed(hub, ("db", "held"))


def test_who_does_not_wait(hub: RunningHub, run: Run) -> None:
    """With --no-wait, and when --wait is over, the exit code is 4, and one sentence says who holds it."""
    run("db", "--", "sleep", LONG)
    until_listed(hub, ("db", "held"))

    for option in (["--no-wait"], ["--wait", "0"]):
        done = hub.run("with", "db", *option, "--", "echo", "mine")
        assert (done.returncode, done.stdout) == (4, "")
        assert "db has been held by 'owner' on " in done.stderr
        assert "('sleep 3600')" in done.stderr
    assert listed(hub) == [("db", "held")]


def test_a_command_within_another(hub: RunningHub) -> None:
    """An inner command has the leases of the outer one; others that are taken are refused at once, without waiting."""
    inner = [*PROGRAM, "with"]
    done = hub.run("with", "db", "port:1", "--", *inner, "db", "--", "sh", "-c", "echo $HUBBUB_LEASE_THINGS")
    assert (done.stdout, done.returncode) == ("db port:1\n", 0)

    held = hub.client().post("/leases", {"things": ["port:2"]})["lease"]
    done = hub.run("with", "db", "--", *inner, "port:2", "--", "true")
    assert done.returncode == 4
    assert "rather than for more while you hold db" in done.stderr
    hub.client().delete(f"/leases/{held['id']}")


def test_what_keeps_a_command_from_running(hub: RunningHub, tmp_path: Path) -> None:
    """Each mistake gets one sentence and an exit code of its own, and leaves no lease behind."""
    broken = tmp_path / "broken"
    broken.write_text("#!/nonsense\n")
    broken.chmod(0o700)
    table = (
        (("db",), 2, "say which command to run"),
        (("--", "true"), 2, "Missing argument"),
        (("db", "--wait", "1", "--no-wait", "--", "true"), 2, "exclude each other"),
        (("a b", "--", "true"), 1, "a thing is named like"),
        (("db", "--ttl", "4s", "--", "true"), 2, "is too short; 5 seconds at least"),
        (("db", "--ttl", "soon", "--", "true"), 2, "is not a duration"),
        (("db", "--url", "http://127.0.0.1:9", "--token", "utok_1", "--", "true"), 3, "cannot be reached"),
        (("db", "--token", "utok_1", "--", "true"), 1, "a valid token is needed"),
        (("db", "--", "no-such-program"), 127, "cannot be found as a program"),
        (("db", "--", str(broken)), 126, "cannot be run"),
    )
    for words, code, sentence in table:
        done = hub.run("with", *words)
        assert (done.returncode, done.stdout) == (code, ""), words
        assert sentence in done.stderr
    until_listed(hub)


def test_a_lease_is_told_as_json(hub: RunningHub) -> None:
    """With --json the lease is told on standard error before the command begins, whose output stays its own."""
    done = hub.run("with", "db", "--json", "--", "echo", "mine")

    assert done.stdout == "mine\n"
    assert json.loads(done.stderr)["things"] == ["db"]


def test_leases_are_listed_and_released(hub: RunningHub) -> None:
    """The list shows each holder, the place and the purpose; a manager of the project can release a lease."""
    held = hub.client().post(
        "/leases", {"things": ["db"], "agent": "ann", "purpose": "make", "host": "atlas"}
    )["lease"]
    hub.client().post("/leases", {"things": ["db"], "agent": "bob"})

    rows = [line.split("\t") for line in hub.run("lease", "list").stdout.splitlines()]

    assert [row[1:5] for row in rows] == [["db", "held", "ann", "atlas"], ["db", "waiting", "bob", ""]]
    assert hub.json("lease", "list", "other") == []
    assert hub.run("lease", "release", held["id"][:30]).stdout == "db is free of ann\n"
    assert listed(hub) == [("db", "held")]


def test_how_many_there_are_is_said_and_listed(hub: RunningHub) -> None:
    """A thing is counted, listed with its number, and counted no more."""
    assert hub.json("lease", "capacity", "gpu", "4") == [{"thing": "gpu", "capacity": 4}]
    assert hub.run("lease", "capacity").stdout == "gpu\t4\n"
    assert hub.json("lease", "capacity", "gpu", "--drop") == []
    assert hub.run("lease", "capacity", "gpu").returncode == 2


def test_rules_are_said_and_listed(hub: RunningHub) -> None:
    """A command gets a rule, which is listed, and dropped."""
    assert hub.json("lease", "rule", "docker compose up", "port:5432", "db")[0]["things"] == [
        "port:5432",
        "db",
    ]
    assert hub.run("lease", "rule").stdout == "docker compose up\tport:5432 db\n"
    assert hub.json("lease", "rule", "docker compose up", "--drop") == []
    assert hub.run("lease", "rule", "docker compose up").returncode == 2


@pytest.mark.system
def test_a_command_ends_with_its_lease(hub: RunningHub, run: Run) -> None:
    """A command whose lease was taken from it is told so, and ended."""
    process = run("db", "--ttl", SHORT, "--", "sleep", LONG)
    until_listed(hub, ("db", "held"))
    (lease,) = hub.client().get("/leases")["leases"]

    hub.client().delete(f"/leases/{lease['id']}")

    _, told = process.communicate(timeout=patience())
    assert process.returncode == -signal.SIGTERM
    assert told == "hubbub: the lease is lost, and another may have it; the command is ended\n"


@pytest.mark.system
def test_a_command_ends_before_another_is_let_in(own_hub: RunningHub, run: Run) -> None:
    """A command that cannot renew its lease, as the hub is gone, is ended, even where it will not hear of it."""
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"
    process = run("db", "--ttl", SHORT, "--", sys.executable, "-c", deaf, of=own_hub)
    assert process.stdout is not None
    process.stdout.readline()

    own_hub.stop(signal.SIGKILL)

    assert ends(process.pid)
    assert process.wait() == -signal.SIGKILL
    own_hub.start()
    done = own_hub.run("with", "db", "--", "echo", "mine")
    assert (done.stdout, done.returncode) == ("mine\n", 0)


@pytest.mark.system
def test_a_slow_hub_is_waited_for(own_hub: RunningHub, run: Run) -> None:
    """A command waits for a hub that is slow to answer, and says so; with --no-wait it does not run."""
    assert own_hub.process is not None
    own_hub.process.send_signal(signal.SIGSTOP)
    try:
        waits = run("db", "--ttl", SHORT, "--", "echo", "mine", of=own_hub)
        hurries = run("db", "--no-wait", "--", "echo", "mine", of=own_hub)
        assert waits.stderr is not None
        assert waits.stderr.readline() == "hubbub: waiting: the hub takes long to answer\n"
        assert "(the hub took too long)" in hurries.communicate(timeout=patience())[1]
        assert hurries.returncode == 3
    finally:
        own_hub.process.send_signal(signal.SIGCONT)

    assert waits.communicate(timeout=patience(60))[0] == "mine\n"
    assert waits.returncode == 0
    until_listed(own_hub)


@pytest.mark.system
def test_nobody_is_ever_two(any_hub: RunningHub, run: Run, tmp_path: Path) -> None:
    """No two of many commands ever run together, though some are killed while they wait or run."""
    told = tmp_path / "told"
    told.touch()
    words = ("db", "--", sys.executable, "-c", ALONE, str(told))
    running = [run(*words, of=any_hub) for _ in range(64)]

    for place, each in enumerate(running):
        if place % 3 == 0:
            each.kill()
    codes = [each.wait(patience(60)) for each in running]

    fences = told.read_text().split()
    assert "two" not in fences
    assert [int(each) for each in fences] == sorted({int(each) for each in fences})
    assert len(fences) >= codes.count(0) >= 64 * 2 // 3
    until_listed(any_hub)
