"""Containers: what of this machine they see; and builders and schedulers, whose words are commands for later."""

from collections.abc import Iterator

from shellgate import paths
from shellgate.floor import inputs
from shellgate.floor.deeds import Call, Concern, Deed, Shell, Touch, Use, Verdict
from shellgate.floor.programs import USAGES
from shellgate.floor.readers import by_table
from shellgate.floor.readers.shells import STANDARD_INPUT
from shellgate.floor.usage import arguments
from shellgate.floor.verdicts import ask
from shellgate.floor.words import plain, without
from shellgate.shell.program import Word

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


def docker(call: Call) -> Iterator[Deed]:
    """`docker`, `podman`: the folders that a container is given; what runs in it stays in it."""
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
                yield Touch(value, Use.READ)
        elif name.startswith("-v") and len(name) > 2:
            yield from _mount(without(word, 2), call)
        elif not name.startswith("-") and call.arguments[0].value in (
            "cp",
            "import",
            "load",
            "save",
            "build",
        ):
            yield Touch(word, Use.EITHER)


def _mount(value: Word, call: Call) -> Iterator[Deed]:
    """A folder of this machine in a container: `/here:/there:ro`, `type=bind,source=/here,target=/there`."""
    text = value.known_start
    fields = (
        dict(field.partition("=")[::2] for field in text.split(",")) if "=" in text.partition(":")[0] else {}
    )
    source = fields.get("source") or fields.get("src") or text.partition(":")[0]
    if not source.startswith(("/", ".", "~")):
        return
    yield Touch(plain(source), Use.READ)
    if paths.vital(call.scene.world.absolute(source, call.scene.here), call.scene.world):
        yield Verdict(
            ask("F1", f"It would give all of `{source}` to a container, which may remove or change it.")
        )
    elif source.endswith("docker.sock"):
        yield Verdict(ask("F9", "It would give the whole machine to a container."))


def kubectl(call: Call) -> Iterator[Deed]:
    """`kubectl`: what stands behind `--` runs in a container."""
    yield Concern("it acts on other machines")
    for word in call.arguments:
        if word.value == "--":
            return
        yield Touch(word, Use.EITHER)


def make(call: Call) -> Iterator[Deed]:
    """`make`: settings that name a shell or a program are commands."""
    usage = USAGES["make"]
    found = arguments(call.arguments, usage)
    yield from by_table.by_options(found, usage)
    if any(word.value in STANDARD_INPUT for word in found.of("f")) or any(
        "$(" in word.source for word in found.of("E")
    ):
        yield Verdict(ask("F9", "It runs a makefile that is made on the way."))
    for word in found.operands:
        name, equals, _ = word.known_start.partition("=")
        value = without(word, len(name) + 1)
        if equals and name.rstrip(":?+") in ("SHELL", "MAKE", "CC", "CXX", "LD", "AR", "RM", "MAKEFLAGS"):
            yield Shell(value)
        elif equals:
            yield Touch(value, Use.EITHER)
            if "$(shell" in word.source or (value.value is not None and "$(shell" in value.value):
                yield Verdict(ask("F9", "It sets a variable of make that is a command."))


def schedule(call: Call) -> Iterator[Deed]:
    """`at`, `batch`, `crontab`: what they read runs later, unseen by the gate."""
    usage = USAGES[call.name]
    found = arguments(call.arguments, usage)
    yield Concern("it schedules commands")
    yield from by_table.by_options(found, usage)
    said = inputs.text(call.scene.command)
    if said is not None:
        yield Shell(said, is_guess=True)
    operands = found.operands if call.name == "crontab" else []
    yield from (Touch(word, Use.READ) for word in operands if word.value != "-")
    if call.scene.command.is_piped or said is not None or operands or found.has(("r",)):
        yield Verdict(ask("F9", "It schedules commands that the gate will not see."))


READERS = {
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose"), docker),
    **dict.fromkeys(("kubectl", "oc"), kubectl),
    **dict.fromkeys(("make", "gmake", "bmake", "remake"), make),
    **dict.fromkeys(("at", "batch", "crontab"), schedule),
}
