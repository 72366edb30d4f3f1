"""Cost of a decision: typical commands and files, read and decided under the shipped policy, rules among them.

Run with `python -m bench.gate`.
"""

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import quantiles

from hubbub.node.audit.audit_log import AuditLog, AuditVerdict
from hubbub.node.gate import analysis
from hubbub.node.policy.node_policy import Policy
from shellgate.decide import decide
from shellgate.filesystem import Disk
from shellgate.floor.downloads import Unplugged
from shellgate.rules import parse
from shellgate.world import World

ROUNDS = 300
AIM = 1.0  # ms at p99
RULES = [f"execute_command(tool-{number} *)" for number in range(20)]
COMMANDS = (
    "ls -la src",
    "git status",
    "git log --oneline -20 -- src/main.py",
    "cat README.md | head -40",
    "grep -rn 'TODO' src --include='*.py' | wc -l",
    "npm run build && npm test",
    "pytest -q tests/core > /dev/null 2>&1",
    'for f in src/*.py; do wc -l "$f"; done',
    "find . -name '*.tmp' -delete",
    "rm -rf node_modules dist",
    "git commit -am 'say what it does' && git push origin main",
    "curl -sSf https://example.org/x.tgz -o build/x.tgz",
    "sed -i 's/a/b/' src/main.py",
    "docker build -t app .",
    "FOO=bar python -m app --port 8000 &",
)
FILES = (
    ("read_file", {"path": "src/main.py"}),
    ("write_file", {"path": "src/main.py", "content": ""}),
    ("list_dir", {"path": "src"}),
    ("download_file", {"url": "https://93.184.216.34/x", "dest": "build/x"}),
)


async def measured(world: World, policy: Policy) -> dict[str, list[float]]:
    """Return the milliseconds of each decision, by its subject."""
    calls = [(command, "execute_command", {"command": command}) for command in COMMANDS]
    calls += [(tool, tool, dict(arguments)) for tool, arguments in FILES]
    found: dict[str, list[float]] = {name: [] for name, _tool, _arguments in calls}
    for _ in range(ROUNDS):
        for name, tool, arguments in calls:
            begun = time.perf_counter()
            reading = await analysis.analyse(tool, arguments, world, Unplugged())
            decide(reading, policy, tool, sandboxed=False)
            found[name].append((time.perf_counter() - begun) * 1e3)
    return found


def audited(folder: Path) -> list[float]:
    """Milliseconds of writing a decision down."""
    log = AuditLog(folder / "audit.jsonl")
    found = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        log.decided(
            decision=AuditVerdict.ALLOW,
            tool="execute_command",
            target="git status",
            source="mode",
            rule_id="default",
            reason="it changes nothing",
            digest="0" * 64,
            sandbox="none",
            who="default/bench",
        )
        found.append((time.perf_counter() - begun) * 1e3)
    return found


def show(what: str, found: list[float]) -> None:
    cuts = quantiles(found, n=100)
    print(f"| `{what.replace('|', chr(92) + '|')}` | {cuts[49]:.3f} | {cuts[98]:.3f} |")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        work = home / "proj"
        (work / "src").mkdir(parents=True)
        (work / "src" / "main.py").touch()
        rules = tuple(map(parse, RULES))
        policy = Policy(deny=rules, ask=rules, allow=rules, roots=(work,), home=str(home))
        own = (str(home / ".config" / "hubbub"),)
        world = World(home=str(home), cwd=str(work), roots=(str(work),), own=own, files=Disk())
        asyncio.run(measured(world, policy))  # to warm up
        found = asyncio.run(measured(world, policy))
        print(f"| decision, with {3 * len(RULES)} rules | p50 ms | p99 ms |\n|---|---|---|")
        for name, times in found.items():
            show(name, times)
        show("all of them", [each for times in found.values() for each in times])
        show("a line of the audit log", audited(home))
        print(f"\nAim for all of them: under {AIM} ms at p99.")


if __name__ == "__main__":
    main()
