"""The files by which a server runs a hub: the container, its locks, and the unit for systemd."""

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.stories.balanced_hubs import NAMES, Behind

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "hubbub.service"
PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[\w,-]+\])?==(\S+)", re.MULTILINE)
NAME = re.compile(r"^[A-Za-z0-9._-]+")


HUBS = DEPLOY / "compose.hubs.yaml"


def _lines() -> list[tuple[str, list[str]]]:
    """The instructions of the Containerfile, each with its words."""
    text = (ROOT / "Containerfile").read_text("utf-8")
    joined = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    return [(line.split()[0], line.split()[1:]) for line in joined.splitlines() if line.strip()]


def _instructions(name: str) -> list[list[str]]:
    return [words for instruction, words in _lines() if instruction == name]


def _pins(lock: Path) -> dict[str, str]:
    return dict(PIN.findall(lock.read_text("utf-8")))


def _named(requirements: list[str]) -> set[str]:
    return {found[0].lower() for each in requirements if (found := NAME.match(each))}


def test_all_that_is_copied_is_there_and_let_in() -> None:
    """Each file that the container is made of exists, and is one that the build may see."""
    let_in = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    copied = [
        source
        for words in _instructions("COPY")
        if not words[0].startswith("--from=")
        for source in words[:-1]
    ]

    assert {"src", "pyproject.toml", "deploy/requirements.lock"} <= set(copied)
    assert all((ROOT / source).exists() for source in copied)
    patterns = [line.removeprefix("!") for line in let_in if line.startswith("!")]
    assert all(any(Path(source).match(each) for each in patterns) for source in copied)


def test_the_hub_is_nobody_in_its_container() -> None:
    """It runs under a number that owns nothing but the data folder, which outlives the container."""
    ((user,),) = _instructions("USER")

    assert re.fullmatch(r"[1-9][0-9]{3,}:[1-9][0-9]{3,}", user)
    assert _instructions("VOLUME") == [["/data"]]
    assert any(f"--owner={user.partition(':')[0]}" in words for words in _instructions("RUN"))


def test_what_goes_into_the_container_is_pinned() -> None:
    """Its base has a version, and what the registry gives is taken by hash alone."""
    bases = [words[0] for words in _instructions("FROM")]
    settings = " ".join(word for words in _instructions("ENV") for word in words)

    assert len(set(bases)) == 1
    assert re.search(r":\d+\.\d+-", bases[0])
    assert "PIP_REQUIRE_HASHES=1" in settings


def test_the_container_is_asked_whether_it_is_well() -> None:
    """Its health is that of the hub's store, and asking takes nothing that is not in the image."""
    ((*_options, instruction, command),) = [
        shlex.split(" ".join(words).replace("CMD [", "CMD '[") + "'")
        for words in _instructions("HEALTHCHECK")
    ]

    assert instruction == "CMD"
    assert "/ready" in command


@pytest.mark.parametrize("lock", ["requirements.lock", "build.lock"])
def test_a_lock_of_the_container_is_a_part_of_the_lock(lock: str) -> None:
    """The container holds no other versions than those that everything is tested with; `make lock` sees to it."""
    pins = _pins(DEPLOY / lock)

    assert pins
    assert pins.items() <= _pins(ROOT / "requirements.lock").items()


def test_the_locks_of_the_container_have_all_that_is_needed() -> None:
    """The dependencies of the package, its extras and its build are pinned for the container, those of tests not."""
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    run, built = _pins(DEPLOY / "requirements.lock"), _pins(DEPLOY / "build.lock")

    extras = {extra: _named(needed) for extra, needed in facts["project"]["optional-dependencies"].items()}
    assert extras.pop("all") == {"hubbub"}
    assert _named(facts["project"]["dependencies"]).union(*extras.values()) <= run.keys()
    assert _named(facts["build-system"]["requires"]) <= built.keys()
    assert not {"pytest", "mypy", "playwright"} & run.keys()


def test_systemd_takes_the_unit_of_a_server(tmp_path: Path) -> None:
    """The unit is one that systemd has nothing to say about, and leaves the hub nothing to write but its data."""
    text = UNIT.read_text("utf-8")
    unit = tmp_path / UNIT.name
    unit.write_text(text.replace("/opt/hubbub/bin/hubbub", "/bin/true"), "utf-8")
    analyze = shutil.which("systemd-analyze") or "true"
    done = subprocess.run(
        [analyze, "--system", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )

    assert [line for line in done.stderr.splitlines() if unit.name in line] == []
    assert {"DynamicUser=yes", "ProtectSystem=strict", "StateDirectory=hubbub"} <= set(text.splitlines())


def test_a_story_starts_what_the_file_of_several_hubs_says(tmp_path: Path) -> None:
    """The hubs and the balancer that a test kills and starts are those of the file: only their addresses are others."""
    composed = yaml.safe_load(HUBS.read_text("utf-8"))
    made = Behind(tmp_path, "postgresql:///hubbub")
    text = made.configuration().replace(f"127.0.0.1:{made.balancer_port}", ":8420")
    for name, hub in zip(NAMES, made.hubs, strict=True):
        assert hub.settings.keys() == composed["services"][name]["environment"].keys()
        text = text.replace(hub.url.removeprefix("http://"), f"{name}:8420")

    assert text == composed["configs"]["balancer"]["content"]


def test_several_hubs_share_a_database_and_nothing_else() -> None:
    """The balancer knows every hub; each has the same settings, which are documented, and a data folder of its own."""
    composed = yaml.safe_load(HUBS.read_text("utf-8"))
    services, balancer = composed["services"], composed["configs"]["balancer"]["content"]
    hubs = {name: service for name, service in services.items() if service.get("image") == "hubbub"}

    assert len(hubs) == 3
    assert re.findall(r"^ *server (\S+) (\S+)$", balancer, re.MULTILINE) == [
        (name, f"{name}:8420") for name in hubs
    ]
    assert len({volume for service in hubs.values() for volume in service["volumes"]}) == len(hubs)
    assert len({str(service["environment"]) for service in hubs.values()}) == 1
    documented = (ROOT / "docs/reference/settings.md").read_text("utf-8")
    assert all(f"`{name}`" in documented for name in services["hub-1"]["environment"])
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert published == ["127.0.0.1:8420:8420"]
