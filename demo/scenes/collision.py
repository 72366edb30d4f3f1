"""Two editors want to change one file. Where the project warns they hear of each other; where it blocks, one waits."""

from demo.cast import EMIL, FAYE
from demo.player import Player
from demo.stage import PROJECT, Stage

FILE, AROUND_IT, ELSEWHERE = "src/hubbub/core/work/tasks.py", "src/hubbub/core/work/*.py", "docs/"
STRICT = "strict"


def play(stage: Stage) -> None:
    """Two agents collide in a file, once in a project that warns of it, and once in one that blocks it."""
    _in_warn_mode(stage)
    _in_block_mode(stage)


def _in_warn_mode(stage: Stage) -> None:
    emil, faye = _arrive(stage, PROJECT)
    met = faye.call("checkin", declared_files=[AROUND_IT])
    _expect(stage, _told(met), [(EMIL, [FILE])])
    stage.note(f"{FAYE} says that it changes {AROUND_IT}, may come, and is told: {EMIL} is at {FILE}")
    faye.call("send_message", to=EMIL, content="I keep off it", type="status")
    (heard,) = emil.call("get_messages", sender=FAYE, limit=1)["messages"]
    moved = faye.call("scope_update", declared_files=[ELSEWHERE])
    _expect(stage, _told(moved), [])
    stage.note(f"{FAYE} writes to {EMIL}: {heard['content']!r}, and goes on in {ELSEWHERE}")
    _leave(stage, emil, faye)


def _in_block_mode(stage: Stage) -> None:
    stage.as_owner.post("/projects", {"slug": STRICT, "conflict_mode": "block"})
    stage.note(f"another project, {STRICT}, does not only tell of conflicts: it blocks them")
    emil, faye = _arrive(stage, STRICT)
    refused = faye.call("checkin", declared_files=[AROUND_IT])
    _expect(stage, _told(refused), [(EMIL, [FILE])])
    stage.note(f"{FAYE} wants {AROUND_IT} again, and is refused: {refused.get('error')}")
    _expect(stage, [each["agent_name"] for each in faye.call("presence")["agents"]], [EMIL])
    emil.call("checkout", outcome_status="success", work_summary="it is done")
    came = faye.call("checkin", declared_files=[AROUND_IT])
    _expect(stage, _told(came), [])
    stage.note(f"{EMIL} checks out, and {FAYE} may come")
    _leave(stage, faye)
    _expect(stage, emil.dismiss(), 0)


def _arrive(stage: Stage, project: str) -> tuple[Player, Player]:
    """Both have started their servers, and the first is at the file."""
    emil, faye = (stage.start_editor(name, project) for name in (EMIL, FAYE))
    _expect(stage, _told(emil.call("checkin", declared_files=[FILE])), [])
    stage.note(f"{EMIL} says by `hubbub mcp golemxv` that it changes {FILE}")
    return emil, faye


def _told(answer: dict[str, list[dict[str, object]]]) -> list[tuple[object, object]]:
    """Return the agents and the files that an answer names."""
    return [(each["agent_name"], each["overlapping_files"]) for each in answer["conflicts"]]


def _leave(stage: Stage, *editors: Player) -> None:
    for editor in editors:
        editor.call("checkout")
        _expect(stage, editor.dismiss(), 0)


def _expect(stage: Stage, found: object, expected: object) -> None:
    if found != expected:
        stage.complain(f"at the collision there should have been {expected}, and there was {found}")
