"""The program, loaded once for all the processes of it that tests start: each is forked and not loaded anew.

A hub imports for more than a second, and the suite starts hundreds of processes. So the first `python -m hubbub` that
a test starts brings up a zygote: a process that has imported all of the program and does nothing but become more of it.
What it becomes is a real process: a child of the test's own, with its own environment, folder and open files, which
can be signalled, killed and waited for like any other. Where the system can't make such a child, where the environment
would change how Python itself starts, and with whatever a fork can't give, the program is started as ever; to have that
on purpose, start it by `env`. A command that starts the program in turn has a zygote of its own, a fork of the first.
"""

import atexit
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import platform
import re
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass
from inspect import signature
from io import TextIOWrapper
from pathlib import Path
from typing import Any, AnyStr, NoReturn

from hubbub.model.programs.launching import program

PYTHONS = (sys.executable, str(Path(sys.executable).with_name("python")))
MODULES = ("hubbub", "demo.commander", "demo.teammate")  # run by `python -m`; all need what is loaded
INSTALLED = str(Path(sys.executable).with_name("hubbub"))  # as people start it
ITSELF = program()  # as hubbub starts itself
PACED = (sys.executable, str(Path(__file__).parents[1] / "node" / "fleet" / "paced.py"))
ELSEWHERE = ("ip", "netns", "exec")
NETWORK = "/proc/thread-self/ns/net"  # the network of whoever opens it
FORKABLE = {  # what may be asked of a fork; anything else has its one plain value
    "preexec_fn": None,
    "close_fds": True,
    "pass_fds": (),
    "shell": False,
    "restore_signals": True,
    "gid": None,
    "gids": None,
    "uid": None,
    "umask": -1,
}
GROUPS = (-1, 0)  # that of whoever starts it, or one of its own
UNBUFFERED = "PYTHONUNBUFFERED"  # which a fork can see to
PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
READ_AT_START = re.compile(
    rf"(?!{UNBUFFERED}$)PYTHON[A-Z0-9]+|LANG|LC_[A-Z]+|LD_[A-Z_]+|MALLOC_[A-Z_]+|GLIBC_TUNABLES"
)
CLONE = {"x86_64": 56, "aarch64": 220}  # the number of the system call
CLONE_PARENT = 0x8000  # the child's parent is the caller's own
CLONE_NEWNET = 0x40000000
MADV_COLLAPSE = 25  # since Linux 6.1
LARGE = 2 << 20  # bytes of a large page
LOADED_LATER = (  # by libraries, at their first use
    "anyio._backends._asyncio",
    "click._textwrap",
    "encodings.idna",
    "httpcore2",
    "importlib.resources.readers",
    "truststore",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
    "uvicorn.protocols.http.httptools_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
)
STARTERS = frozenset({"doctor", "install", "mcp", "up"})  # commands that start the program in turn
SELDOM = "hubbub.node.runtimes.openai"  # takes a third of the time, and few programs need it


@dataclass(frozen=True)
class Order:
    """An order to run: a module, or a script that runs the program, and its folder."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    new_session: bool
    module: str
    script: str | None = None  # which is run instead
    modules: str | None = None  # the folder that comes first where modules are looked for
    network: str = NETWORK  # the file of a namespace

    @property
    def starts(self) -> bool:
        """True if it may start the program in turn."""
        return bool(self.arguments) and self.arguments[0] in STARTERS


class Popen(subprocess.Popen[AnyStr]):
    """`subprocess.Popen`; the program itself is forked from the zygote where that makes no difference."""

    def _execute_child(self, args: Any, *rest: Any) -> None:
        parent = super()._execute_child  # type: ignore[misc]  # private, and the same since Python 3.11
        given = signature(parent).bind(args, *rest).arguments
        order = _order(args, given)
        ours = (given["p2cread"], given["c2pwrite"], given["errwrite"])
        files = [standard if each == -1 else each for standard, each in enumerate(ours)]
        pid = None if order is None else _zygote.become(order, files)
        if pid is None:
            parent(args, *rest)
            return
        self.pid, self._child_created = pid, True
        if given["process_group"] == 0:
            os.setpgid(pid, pid)
        self._close_pipe_fds(*(given[each] for each in PIPES))  # type: ignore[attr-defined]


def _order(args: Any, given: Mapping[str, Any]) -> Order | None:
    """Return the order to fork; None if this is not the program, or a fork would be different."""
    if isinstance(args, str | bytes | os.PathLike) or not _is_forkable(given):
        return None
    words = [os.fspath(each) for each in args]
    network = NETWORK
    if tuple(words[:3]) == ELSEWHERE:
        network, words = f"/run/netns/{words[3]}", words[4:]
    folder = os.fspath(given["cwd"] or Path.cwd())
    module, script = MODULES[0], None
    modules: str | None = folder
    if len(words) > 2 and words[0] in PYTHONS and words[1] == "-m" and words[2] in MODULES:
        module, arguments = words[2], words[3:]
    elif tuple(words[: len(ITSELF)]) == ITSELF:
        modules, arguments = None, words[len(ITSELF) :]
    elif words[:1] == [INSTALLED]:
        script, arguments = words[0], words[1:]
        modules = str(Path(script).parent)
    elif tuple(words[:2]) == PACED:
        script, arguments = words[1], words[2:]
        modules = str(Path(script).parent)
    else:
        return None
    environment = dict(os.environ if given["env"] is None else given["env"])
    session = bool(given["start_new_session"])
    return Order(arguments, environment, folder, session, module, script, modules, network)


def _is_forkable(given: Mapping[str, Any]) -> bool:
    if not sys.platform.startswith("linux") or platform.machine() not in CLONE:
        return False
    if any(given[name] != plain for name, plain in FORKABLE.items()) or given["process_group"] not in GROUPS:
        return False
    return given["env"] is None or _start(given["env"]) == _start(os.environ)


def _start(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the parts of an environment that Python reads as it starts."""
    return {name: value for name, value in environment.items() if READ_AT_START.fullmatch(name)}


class Zygote:
    """The process that has loaded the program; there from the first order on, and gone with this process."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()

    def become(self, order: Order, files: Sequence[int]) -> int | None:
        """The id of a new child of this process, with these three open files; None if the zygote is no more."""
        with self._one_at_a_time, ExitStack() as stack:
            if self._line is None:
                self._line = self._started()
            told = os.memfd_create("order")
            stack.callback(os.close, told)
            with open(told, "wb", closefd=False) as file:
                file.write(json.dumps(asdict(order)).encode())
            network = os.open(order.network, os.O_RDONLY)  # a thread and what it starts are in the same
            stack.callback(os.close, network)
            try:
                socket.send_fds(self._line, [b"!"], [told, network, *files])
                return int.from_bytes(self._line.recv(4)) or None
            except ConnectionError:
                return None

    def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
        atexit.register(self.end)
        return ours

    def plant(self) -> socket.socket | None:
        """Fork while this process is still nobody: the child is the zygote of the processes it starts, and gets its
        line.
        """
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            ours.close()
            return theirs
        theirs.close()
        self._line = ours
        subprocess.Popen = Popen  # type: ignore[misc]
        return None

    def end(self) -> None:
        """Release the zygote; the processes that it became live on."""
        if self._line is not None and self._process is not None:
            self._line.close()
            self._process.wait()


_zygote = Zygote()


# ---- the process itself --------------------------------------------------------------------------------------------


def load() -> None:
    """Import all of the program but its entry, which is run, and the rarely needed parts."""
    import hubbub
    from hubbub.serve.dashboard.assets import Assets
    from hubbub.serve.rest.application import ROUTES

    gc.disable()
    for each in pkgutil.walk_packages(hubbub.__path__, "hubbub."):
        if not each.name.endswith("__main__") and each.name != SELDOM:
            with suppress(Exception):  # whoever needs it will say so
                importlib.import_module(each.name)
    for name in LOADED_LATER:
        importlib.import_module(name)
    Assets.of()  # put together once, for all hubs
    for route in ROUTES:
        route.make()
    gc.freeze()  # so that all share this memory
    _collapse()


def _collapse() -> None:
    """Have the system keep this memory in large pages, if it can: then a fork copies, and its end frees, far less."""
    advise = ctypes.CDLL(None).madvise  # which refuses what it does not know, and harms nothing
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    with suppress(OSError):
        for line in Path("/proc/self/maps").read_text().splitlines():
            span, rights, _offset, _device, file, *_name = line.split()
            if rights == "rw-p" and file == "0":
                begin, end = (int(each, 16) for each in span.split("-"))
                begin, end = -(-begin // LARGE) * LARGE, end // LARGE * LARGE
                if begin < end:
                    advise(begin, end - begin, MADV_COLLAPSE)


def serve(line: socket.socket) -> Order:
    """Fork for each order; returns in the child only, which is to run the order."""
    while True:
        byte, files, _flags, _address = socket.recv_fds(line, 1, 5)
        if not byte:
            _end(0)
        pid = _fork_sibling()
        if pid == 0:
            line.close()
            return _become(*files)
        for each in files:
            os.close(each)
        line.send(pid.to_bytes(4))


def _fork_sibling() -> int:
    """Fork like `os.fork`, but make the child one of this process's parent, which can wait for it."""
    python, system = ctypes.pythonapi, ctypes.PyDLL(None)  # neither lets the lock of the interpreter go
    python.PyOS_BeforeFork()
    nothing = ctypes.c_long(0)
    flags = ctypes.c_long(CLONE_PARENT | signal.SIGCHLD)
    pid: int = system.syscall(ctypes.c_long(CLONE[platform.machine()]), flags, *([nothing] * 4))
    if pid == 0:
        python.PyOS_AfterFork_Child()
    else:
        python.PyOS_AfterFork_Parent()
    if pid < 0:
        sys.exit("the system makes no child for who started this")
    return pid


def _become(told: int, network: int, *files: int) -> Order:
    """Take on the files, network, folder, environment and arguments of an order."""
    with open(told, "rb") as file:
        file.seek(0)
        order = Order(**json.load(file))
    if order.starts and (line := _zygote.plant()):
        for each in (network, *files):
            os.close(each)
        return serve(line)
    for standard, each in enumerate(files):
        os.dup2(each, standard)
        os.close(each)
    if order.new_session:
        os.setsid()
    _enter(network)
    os.chdir(order.folder)
    os.environ.clear()
    os.environ.update(order.environment)
    time.tzset()
    sys.argv = [order.script or "hubbub", *order.arguments]
    sys.path[:1] = [] if order.modules is None else [order.modules]
    _open_streams()
    gc.enable()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    return order


def _enter(network: int) -> None:
    """Enter the network whose file is open, unless this is it: only root may enter any."""
    if not os.path.sameopenfile(network, ours := os.open(NETWORK, os.O_RDONLY)):
        enter_network(network)
    os.close(ours)
    os.close(network)


def enter_network(network: int) -> None:
    """Move this thread, and everything it starts from now on, into the network whose file is open."""
    if ctypes.CDLL(None, use_errno=True).setns(network, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "the system does not let us into that network")


def _open_streams() -> None:
    """Open standard input, output and error anew, as Python does: their targets decide how they are read."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        before = getattr(sys, name)
        newline = None if mode == "r" else "\n"
        is_raw = mode == "w" and bool(os.environ.get(UNBUFFERED))
        file = open(number, f"{mode}b", 0 if is_raw else -1, closefd=False)  # noqa: SIM115
        stream = TextIOWrapper(file, before.encoding, before.errors, newline, write_through=is_raw)
        stream.reconfigure(line_buffering=not is_raw and (name == "stderr" or stream.isatty()))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _end(code: int) -> NoReturn:
    """End as Python does, but leave the memory to the system: freeing all modules takes 0.1 s."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    signal.pthread_sigmask(
        signal.SIG_BLOCK, [signal.SIGINT]
    )  # it ends with its line; what it becomes gets it
    load()
    with closing(socket.socket(fileno=int(sys.argv[1]))) as line:
        order = serve(line)
    try:
        if order.script is None:
            runpy.run_module(order.module, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(order.script, run_name="__main__")
    except SystemExit as ended:
        if isinstance(ended.code, int):
            _end(ended.code)
        raise


if __name__ == "__main__":
    main()
