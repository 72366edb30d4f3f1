"""Proof on the page of a task: what its holder says beside what was seen, and who let it pass."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from hubbub.core.actions import task_actions
from hubbub.core.work import proof, tasks
from hubbub.model.people.rights import HUB
from hubbub.model.records import Task
from hubbub.model.work.proof import Deed, ProofRules, Tree
from tests.dashboard.browser import Visit
from tests.dashboard.looks import axe
from tests.dashboard.scene import Scene
from tests.serve.served_hub import Hub

pytestmark = pytest.mark.usefixtures("scene")


def asking(hub: Hub, scene: Scene, number: int) -> Task:
    """A task under way, which asks that all is committed and pushed and that `make test` passes."""
    running = scene.tasks["running"][number]
    found: Task = hub.do(lambda tx: tasks.find(tx, [hub.project.id], str(running.id)))
    hub.do(lambda tx: proof.put_rules(tx, hub.project, ProofRules(tests="make test")))
    hub.do(lambda tx: proof.put_contract(tx, found, ["clean", "pushed", "tests"], by=HUB))
    return found


def section(page: Page) -> Locator:
    return page.locator(".inspector").get_by_role("region", name="Proof")


def saw(hub: Hub, task: Task) -> None:
    """A hook saw the tests pass in a clean checkout without a remote."""
    found = Tree(tree="1" * 40, head="2" * 40, head_tree="1" * 40, branch="main", pushed=None, dirty=())
    seen = proof.Seen(deed=Deed.SHELL, instance="r", place="p", command="make test", code=0, tree=found)
    hub.do(lambda tx: proof.saw(tx, hub.project, str(task.assignee), seen))


def test_the_claim_stands_beside_what_was_seen(visit: Visit, hub: Hub, scene: Scene) -> None:
    """Each demand is seen, missing or not seen, never passed because somebody says so; it follows what hooks tell."""
    task = asking(hub, scene, 0)
    page = visit(f"/t/{task.number}")
    findings = section(page).get_by_role("list", name="Required").get_by_role("listitem")
    expect(findings).to_have_text([re.compile("^Not seen: ")] * 3)

    saw(hub, task)

    expect(findings).to_have_text(
        [
            "Seen: everything is committed",
            "Not seen: the commit is on the remote (there is no remote that git here knows of)",
            "Seen: the tests, make test, run by themselves after the last change, passed",
        ]
    )
    expect(section(page)).to_contain_text("2 of 3 seen")
    section(page).get_by_text("1 step seen by hooks").click()
    expect(section(page)).to_contain_text("Ran make test exit code 0")
    assert axe(page) == []


def test_proof_in_chinese(visit: Visit, hub: Hub, scene: Scene) -> None:
    """A page in Chinese says in Chinese what was not seen, and why."""
    task = asking(hub, scene, 4)
    saw(hub, task)
    page = visit(f"/t/{task.number}", language="zh-CN")
    told = page.locator(".inspector .findings").first
    expect(told).to_contain_text("未看到：提交已在远程仓库（这里的 git 不知道任何远程仓库）")


def test_a_person_lets_it_pass(visit: Visit, hub: Hub, scene: Scene) -> None:
    """A person who lets a task pass says why, and is named there; unseen stays unseen, also when it is done."""
    task = asking(hub, scene, 1)
    page = visit(f"/t/{task.number}")
    section(page).get_by_role("button", name="Waive").click()
    page.get_by_label("Reason (logged under your name)").fill("only words were changed")
    page.get_by_role("dialog").get_by_role("button", name="Waive").click()
    expect(section(page)).to_contain_text("waived the proof: only words were changed")
    expect(section(page).get_by_role("button", name="Waive")).to_have_count(0)

    hub.do(lambda tx: task_actions.complete(tx, task, by=str(task.assignee), result="All tests passed."))

    expect(page.locator(".inspector")).to_contain_text("All tests passed.")
    expect(section(page)).to_contain_text("0 of 3 seen")


def test_who_may_only_look_lets_nothing_pass(visit: Visit, hub: Hub, scene: Scene) -> None:
    """A viewer sees what was seen and has no button; of a task that asks for nothing the page says nothing of proof."""
    task = asking(hub, scene, 2)
    page = visit(f"/t/{task.number}", who="vera")
    expect(section(page).get_by_role("listitem")).to_have_count(3)
    expect(section(page).get_by_role("button")).to_have_count(0)
    page = visit(f"/t/{scene.tasks['running'][3].number}", who="vera")
    expect(page.locator(".inspector").get_by_role("note")).to_be_visible()
    expect(section(page)).to_have_count(0)
