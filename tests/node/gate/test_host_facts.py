"""A gate's facts about its machine."""

from pathlib import Path

import pytest

from hubbub.node.gate import host_facts
from hubbub.node.gate.host_facts import HostFacts
from hubbub.node.policy.node_policy import APPROVED, FILE, Policy


@pytest.fixture
def here(tmp_path: Path) -> HostFacts:
    folders = {name: tmp_path / name for name in ("home", "work", "data", "config")}
    for folder in folders.values():
        folder.mkdir()
    return HostFacts(
        home=folders["home"],
        cwd=folders["work"],
        own=(folders["data"], folders["config"]),
        environment={"PATH": "/bin", "LC_ALL": "C", "HUBBUB_TOKEN": "utok_secret", "AWS_SECRET": "x"},
    )


def test_relative_paths_begin_in_a_root(here: HostFacts, tmp_path: Path) -> None:
    """They begin where the program was started, if that is in a root, else in the first of them."""
    elsewhere = tmp_path / "elsewhere"

    assert here.world(Policy(roots=(tmp_path,))).cwd == str(here.cwd)
    assert here.world(Policy(roots=(elsewhere, here.home))).cwd == str(elsewhere)
    assert here.world(Policy()).cwd == str(here.cwd)


def test_the_products_own_folders_are_known(here: HostFacts, tmp_path: Path) -> None:
    """Those of its settings, the usual ones beneath a home, and the policy's files wherever they are."""
    file = tmp_path / "other" / FILE

    own = here.world(Policy(file=file)).own

    assert {str(folder) for folder in here.own} <= set(own)
    assert f"{here.home}/.config/hubbub" in own
    assert {str(file), str(file.with_name(APPROVED))} <= set(own)


def test_a_link_to_an_own_folder_hides_nothing(here: HostFacts, tmp_path: Path) -> None:
    """A folder that is reached by a link is known by both names."""
    link = tmp_path / "link"
    link.symlink_to(here.own[0])
    linked = HostFacts(home=here.home, cwd=here.cwd, own=(link,), environment={})

    assert {str(link), str(here.own[0])} <= set(linked.world(Policy()).own)


def test_commands_find_no_secrets_in_their_environment(here: HostFacts) -> None:
    """The variables on the list are passed on, and no others."""
    assert dict(here.world(Policy()).variables) == {
        "PATH": "/bin", "LC_ALL": "C", "HOME": str(here.home), "TERM": "dumb",
    }  # fmt: skip


def test_a_machine_is_the_same_next_time(tmp_path: Path) -> None:
    """Its id does not change with its name, and is not the one that the system keeps for itself."""
    first, second = host_facts.describe(tmp_path), host_facts.describe(tmp_path, name="renamed")

    assert first.machine_id == second.machine_id
    assert (second.name, first.sandbox) == ("renamed", second.sandbox)
    systems = [file.read_text().strip() for file in host_facts.SYSTEM_IDS if file.exists()]
    assert first.machine_id not in systems


def test_a_machine_without_an_id_gets_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has none, the machine's own folder keeps one."""
    monkeypatch.setattr(host_facts, "SYSTEM_IDS", ())

    assert host_facts.describe(tmp_path).machine_id == host_facts.describe(tmp_path).machine_id
    assert host_facts.describe(tmp_path).machine_id != host_facts.describe(tmp_path / "other").machine_id
