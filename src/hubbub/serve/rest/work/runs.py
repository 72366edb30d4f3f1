"""Runs: the stretches of work in a project."""

from hubbub.core.people import runs
from hubbub.model.errors import existing
from hubbub.model.people.rights import Right
from hubbub.model.records import Project, Run
from hubbub.serve.rest.base.call import Call
from hubbub.serve.rest.base.router import Router
from hubbub.serve.rest.base.shapes import Model, RunShape
from hubbub.store.tx import Tx

router = Router("runs")


class Runs(Model):
    runs: list[RunShape]


@router.get("/runs")
async def list_runs(call: Call) -> Runs:
    """List the project's runs, newest first."""

    def look(tx: Tx) -> list[RunShape]:
        project = call.enter(tx, Right.READ)
        current = runs.current(tx, project.id)
        return [RunShape.of(run, current=run.id == current.id) for run in runs.of_project(tx, project.id)]

    return Runs(runs=await call.read(look))


def named(tx: Tx, project: Project, name: str | None) -> Run:
    """Return the run of that name, or the current one for None. Raises `NotFound`."""
    if name is None:
        return runs.current(tx, project.id)
    return existing(runs.find(tx, project.id, name), "run", name)
