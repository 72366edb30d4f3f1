"""Containers and their view of this machine; and builders and schedulers, whose words are commands for later."""

from collections.abc import Iterator

from shellgate import paths
from shellgate.floor.arguments.actions import (
    Action,
    Concern,
    FloorVerdict,
    ProgramCall,
    RunShell,
    TouchPath,
    Use,
)
from shellgate.floor.arguments.shell_words import plain, without
from shellgate.floor.arguments.usage_tables import arguments
from shellgate.floor.dataflow import standard_input
from shellgate.floor.programs import USAGES
from shellgate.floor.readers import by_table
from shellgate.floor.readers.shells import STANDARD_INPUT
from shellgate.shell.program import Word
from shellgate.verdicts import ask

_MOUNTS = ("-v", "--volume", "--mount")
_FILES = ("-f", "--file", "--env-file", "--iidfile", "--cidfile", "-o", "--output")
_TEXT = (
    "-e",
    "--env",
    "-p",
    "--publish",
    "--name",
    "-w",
    "--workdir",
    "--entrypoint",
    "-t",
    "--tag",
    "--label",
    "-u",
    "--build-arg",
)


def docker(call: ProgramCall) -> Iterator[Action]:
    """Read `docker`, `podman`: the folders given to a container; the commands in it stay in it."""
    yield Concern("it runs containers")
    rest = list(call.arguments)
    while rest:
        word = rest.pop(0)
        name, equals, _ = word.known_start.partition("=")
        if name in _MOUNTS + _FILES + _TEXT:
            value = without(word, len(name) + 1) if equals else rest.pop(0) if rest else plain("")
            if name in _MOUNTS:
                yield from _mount(value, call)
            elif name in _FILES:
                yield TouchPath(value, Use.READ)
        elif name.startswith("-v") and len(name) > 2:
            yield from _mount(without(word, 2), call)
        elif not name.startswith("-") and call.arguments[0].value in (
            "cp",
            "import",
            "load",
            "save",
            "build",
        ):
            yield TouchPath(word, Use.EITHER)


def _mount(value: Word, call: ProgramCall) -> Iterator[Action]:
    """A folder of this machine in a container: `/here:/there:ro`, `type=bind,source=/here,target=/there`."""
    text = value.known_start
    fields = (
        dict(field.partition("=")[::2] for field in text.split(",")) if "=" in text.partition(":")[0] else {}
    )
    source = fields.get("source") or fields.get("src") or text.partition(":")[0]
    if not source.startswith(("/", ".", "~")):
        return
    yield TouchPath(plain(source), Use.READ)
    if paths.vital(call.scene.world.absolute(source, call.scene.here), call.scene.world):
        yield FloorVerdict(
            ask("F1", f"It would give all of `{source}` to a container, which may remove or change it.")
        )
    elif source.endswith("docker.sock"):
        yield FloorVerdict(ask("F9", "It would give the whole machine to a container."))


def kubectl(call: ProgramCall) -> Iterator[Action]:
    """`kubectl`: what stands behind `--` runs in a container."""
    yield Concern("it acts on other machines")
    for word in call.arguments:
        if word.value == "--":
            return
        yield TouchPath(word, Use.EITHER)


def make(call: ProgramCall) -> Iterator[Action]:
    """`make`: settings that name a shell or a program are commands."""
    found = arguments(call.arguments, USAGES["make"])
    yield from by_table.by_options(found)
    if any(word.value in STANDARD_INPUT for word in found.of("f")) or any(
        "$(" in word.source for word in found.of("E")
    ):
        yield FloorVerdict(ask("F9", "It runs a makefile that is made on the way."))
    for word in found.operands:
        name, equals, _ = word.known_start.partition("=")
        value = without(word, len(name) + 1)
        if equals and name.rstrip(":?+") in ("SHELL", "MAKE", "CC", "CXX", "LD", "AR", "RM", "MAKEFLAGS"):
            yield RunShell(value)
        elif equals:
            yield TouchPath(value, Use.EITHER)
            if "$(shell" in word.source or (value.value is not None and "$(shell" in value.value):
                yield FloorVerdict(ask("F9", "It sets a variable of make that is a command."))


def schedule(call: ProgramCall) -> Iterator[Action]:
    """`at`, `batch`, `crontab`: what they read runs later, unseen by the gate."""
    found = arguments(call.arguments, USAGES[call.name])
    yield Concern("it schedules commands")
    yield from by_table.by_options(found)
    said = standard_input.text(call.scene.command)
    if said is not None:
        yield RunShell(said, is_guess=True)
    operands = found.operands if call.name == "crontab" else []
    yield from (TouchPath(word, Use.READ) for word in operands if word.value != "-")
    if call.scene.command.is_piped or said is not None or operands or found.has(("r",)):
        yield FloorVerdict(ask("F9", "It schedules commands that the gate will not see."))


READERS = {
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose"), docker),
    **dict.fromkeys(("kubectl", "oc"), kubectl),
    **dict.fromkeys(("make", "gmake", "bmake", "remake"), make),
    **dict.fromkeys(("at", "batch", "crontab"), schedule),
}
