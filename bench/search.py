"""Cost of searching 50,000 files with the tools of a machine, beside ripgrep alone on the same files.

ripgrep is started for each search in both; the tool adds the gate's decision, a second reading of each hit, and the
answer. Run with `python -m bench.search`.
"""

import asyncio
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import median

from hubbub.model.fleet.calls import NodeCall, Principal
from hubbub.node.policy.node_policy import Policy
from hubbub.node.sandbox import choose
from hubbub.node.tools import grep_files
from hubbub.node.tools.tool_context import ToolContext
from shellgate.filesystem import Disk
from shellgate.floor import file_calls
from shellgate.world import World

FILES = 50_000
FOLDERS = 500
LINES = 40
TIMES = 15
AIM = 2.0  # times what ripgrep takes
NEEDLES = {"none": "nowhere at all", "100 matches": "needle [0-9]+00\\b", "too many": "the quick"}


def fill(root: Path) -> None:
    """Files of some lines each, a needle in every fifth of them."""
    text = "".join(f"line {number}: the quick brown fox jumps over it\n" for number in range(LINES))
    for number in range(FILES):
        folder = root / f"package_{number % FOLDERS}"
        if number < FOLDERS:
            folder.mkdir()
        extra = f"needle {number // 5}\n" if number % 5 == 0 else ""
        (folder / f"module_{number}.py").write_text(text + extra)


def machine(root: Path) -> ToolContext:
    home = str(root.parent)
    return ToolContext(
        node="bench",
        data=root.parent / "data",
        log=root.parent / "log",
        world=World(home=home, cwd=str(root), roots=(str(root),), own=(f"{home}/data",), files=Disk()),
        policy=Policy(roots=(root,), approval_timeout=timedelta(seconds=1)),
        sandbox=choose(),
        hub=None,  # type: ignore[arg-type]  # nobody is asked
        redact=lambda text: text,
        perform=None,  # type: ignore[arg-type]  # no agent runs here
    )


def call(here: ToolContext, tool: str, **arguments: object) -> int:
    """Return the number of lines or paths that the tool finds."""
    order = NodeCall(who=Principal(project="bench", name="bench"), tool=tool, arguments=arguments)
    decided = replace(here, reading=file_calls.read(tool, arguments, here.world))

    async def called() -> object:
        return (await grep_files.TOOLS[tool](decided, order)).value

    found = asyncio.run(called())
    if isinstance(found, dict):
        found = found["matches"]
    assert isinstance(found, list)
    return len(found)


def ripgrep(root: Path, *arguments: str) -> int:
    """Return the number of lines that ripgrep prints."""
    command = [grep_files.program(), "--no-config", "--line-number", *arguments, "./"]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    return done.stdout.count(b"\n")


def seconds(work: Callable[[], int]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def compare(what: str, ours: Callable[[], int], theirs: Callable[[], int]) -> None:
    """Print one row: both searches by turns, as machines are not quiet."""
    found = ours(), theirs()  # to warm up
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(TIMES)]
    here, there = median(each[0] for each in pairs), median(each[1] for each in pairs)
    print(
        f"| {what} | {found[0]} of {found[1]} | {here * 1e3:.0f} | {there * 1e3:.0f} | {here / there:.2f} |"
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "root"
        root.mkdir()
        fill(root)
        here = machine(root)
        print(f"Searching {FILES:,} files (aim: within {AIM:.0f} times ripgrep)\n")
        print("| search | found | tool ms | ripgrep ms | times |\n|---|---|---|---|---|")
        for name, pattern in NEEDLES.items():
            compare(
                f"grep, {name}",
                lambda pattern=pattern: call(here, "grep", pattern=pattern, path="."),  # type: ignore[misc]
                lambda pattern=pattern: ripgrep(root, f"--regexp={pattern}"),  # type: ignore[misc]
            )
        compare(
            "glob **/*_77.py",
            lambda: call(here, "glob", pattern="**/*_77.py"),
            lambda: ripgrep(root, "--files", "--glob=*_77.py"),
        )


if __name__ == "__main__":
    main()
