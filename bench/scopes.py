"""Cost of asking for the scopes around one's own, with 10, 100 and 1,000 agents about, 50 paths each.

Every tenth path is a pattern, half of the agents are in one of twenty areas. Asked for are 50 paths too: once where
nobody works, and once where some do. Beside that stands the cost of comparing with everyone, without an index.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from hubbub.core.agents import scopes
from hubbub.core.people import projects
from hubbub.core.presence import presences
from hubbub.model.agents.scopes import Scope, ScopeIndex
from hubbub.model.ids import new_id
from hubbub.model.people.rights import SYSTEM
from hubbub.model.records import Condition, Presence, Profile, Project
from hubbub.store.engine.postgres import Postgres
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.tx import Store, Tx

AGENTS = (10, 100, 1000)
PATHS = 50
AREAS = 20
ASKED = 200
DECLARED = 100
EVERYONE = 5  # times that everyone is compared with
AIM = 5  # milliseconds for a check among the most agents


def files_of(number: int) -> list[str]:
    """Return the paths of an agent: modules of its own, in packages that it shares with some others."""
    package = f"src/package_{number % 50}/part_{number % 7}"
    paths = [f"{package}/agent_{number}/module_{each}.py" for each in range(PATHS - PATHS // 10)]
    return [*paths, *(f"{package}/agent_{number}/tests_{each}/**/*.py" for each in range(PATHS // 10))]


def areas(tx: Tx, project: Project) -> None:
    for number in range(AREAS):
        patterns = [f"services/{number}/**", f"docs/{number}/*.md"]
        scopes.put_area(tx, project, f"area-{number}", name=f"Area {number}", patterns=patterns)


def arrive(tx: Tx, project: Project, name: str) -> Presence:
    return presences.report(
        tx,
        project.id,
        name,
        instance="1",
        condition=Condition.IDLE,
        profile=Profile(),
        ttl=timedelta(hours=1),
    )


def populate(tx: Tx, agents: int) -> Project:
    project = projects.create(tx, f"bench-{new_id().hex[-8:]}")
    areas(tx, project)
    for number in range(agents):
        area = f"area-{number % AREAS}" if number % 2 else None
        scopes.declare(tx, project, arrive(tx, project, f"a-{number}"), Scope.of(area, files_of(number)))
    return project


def among_nobody() -> Scope:
    return Scope.of(None, [path.replace("src/", "lib/") for path in files_of(0)])


def among_some() -> Scope:
    """Files that others have, a pattern over theirs, and one inside an area that others have declared."""
    mine = among_nobody().files[: PATHS - 10]
    theirs = [files_of(number)[0] for number in range(8)]
    return Scope.of(None, [*mine, *theirs, "src/package_3/part_3/agent_3/*.py", "services/1/main.py"])


def show(what: str, times: int, work: Callable[[], int]) -> None:
    """Print a call's time, its CPU too as machines are not quiet, and the number of conflicts it finds."""
    work()  # to warm up
    waited = []
    cpu = time.process_time()
    for _ in range(times):
        begun = time.perf_counter()
        found = work()
        waited.append((time.perf_counter() - begun) * 1e3)
    each = (time.process_time() - cpu) * 1e3 / times
    print(f"{what:<52}{median(waited):>8.2f}{quantiles(waited, n=100)[98]:>9.2f}{each:>9.2f}{found:>11}")


def ask(store: Store, engine: str, agents: int) -> None:
    project = store.write_now(SYSTEM, lambda tx: populate(tx, agents))

    def check(scope: Scope) -> int:
        return len(store.read_now(SYSTEM, lambda tx: scopes.check(tx, project, scope)))

    def declare(scope: Scope) -> int:
        return len(
            store.write_now(SYSTEM, lambda tx: scopes.declare(tx, project, arrive(tx, project, "me"), scope))
        )

    def compare(tx: Tx) -> int:
        ground = ScopeIndex(among_some(), {area.slug: area for area in scopes.areas(tx, project.id)})
        others = [each.scope for each in scopes.live(tx, project.id) if each.agent != "me"]
        return sum(ground.overlap(other) is not None for other in others)

    name = f"{engine}, {agents} agents"
    show(f"{name}: check where nobody is", ASKED, partial(check, among_nobody()))
    show(f"{name}: check where some are", ASKED, partial(check, among_some()))
    show(f"{name}: declare", DECLARED, lambda: declare(among_some()))
    show(f"{name}: compare with everyone", EVERYONE, lambda: store.read_now(SYSTEM, compare))


def main() -> None:
    sys.setswitchinterval(0.0005)  # as the hub does
    print(f"{'':<52}{'p50 ms':>8}{'p99 ms':>9}{'CPU ms':>9}{'conflicts':>11}")
    with (
        tempfile.TemporaryDirectory(prefix="hubbub-bench-") as name,
        closing(SQLite.open(Path(name))) as store,
    ):
        for agents in AGENTS:
            ask(store, "SQLite", agents)
    if len(sys.argv) > 1:
        with closing(Postgres.open(sys.argv[1])) as server:
            for agents in AGENTS:
                ask(server, "PostgreSQL", agents)
    print(f"aim: a check among {AGENTS[-1]} agents takes less than {AIM} ms")


if __name__ == "__main__":
    main()
