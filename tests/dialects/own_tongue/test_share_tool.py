"""`files` and `share`: what agents must not both change, and what they show to each other."""

from hubbub.core.people import projects, runs
from tests.dialects.conftest import both_engines
from tests.dialects.every_row import every_row
from tests.dialects.own_tongue.requirements import requires
from tests.dialects.own_tongue.team import Team

MISSING: list[tuple[dict[str, object], str]] = [
    ({"action": "post", "text": "x"}, "name"),
    ({"action": "post", "name": "x"}, "text"),
    ({"action": "read"}, "name"),
    ({"action": "review", "artifact": "A-1"}, "to"),
    ({"action": "verdict", "artifact": "A-1"}, "verdict"),
    ({"action": "remember", "text": "x"}, "name"),
    ({"action": "append"}, "text"),
]


@requires("files.claim")
@both_engines
def test_claiming_files(team: Team) -> None:
    """A claim is told to the next claimer, with the name of its holder."""
    ada, ember = team.joined("ada"), team.joined("ember")
    assert ada.files(action="claim", paths=["src/a.py", "docs/*.md"]) == {
        "claimed": ["src/a.py", "docs/*.md"]
    }
    assert ember.files(action="claim", paths=["src/a.py"]) == {
        "claimed": ["src/a.py"],
        "conflicts": [{"agent": "ada", "on": ["src/a.py"]}],
    }
    assert "ada: src/a.py" in ember.join()["conflicts"]


@requires("files.check")
def test_checking_files(team: Team) -> None:
    """One sees who would be in the way, never oneself, and nothing changes."""
    team.joined("ada").files(action="claim", paths=["src/*.py"])
    ember = team.joined("ember")
    with team.unchanged():
        assert ember.files(action="check", paths=["README.md"]) == {"is_free": True}
        assert ember.files(action="check", paths=["src/b.py"]) == {
            "is_free": False,
            "conflicts": [{"agent": "ada", "on": ["src/b.py"]}],
        }
        assert team.agent("ada").files(action="check", paths=["src/b.py"]) == {"is_free": True}


@requires("files.release")
@both_engines
def test_releasing_files(team: Team) -> None:
    """Released things are free for others: some, or all."""
    ada, ember = team.joined("ada"), team.joined("ember")
    ada.files(action="claim", paths=["a.py", "b.py", "c.py"])
    assert ada.files(action="release", paths=["a.py"]) == {"released": ["a.py"]}
    assert ember.files(action="check", paths=["a.py"]) == {"is_free": True}
    assert sorted(ada.files(action="release")["released"]) == ["b.py", "c.py"]
    assert ada.files(action="release") == {"released": []}


@requires("files.things")
@both_engines
def test_claiming_things(team: Team) -> None:
    """A thing that one agent holds is refused to another, with the holder's name; it is listed, renewed, released."""
    ada, ember = team.joined("ada"), team.joined("ember")
    (held,) = ada.files(action="claim", things=["port:8000", "db"])["leased"]
    assert (held["things"], held["status"], held["fence"]) == (["port:8000", "db"], "held", 1)
    assert ada.files(action="claim", things=["db"])["leased"][0]["fence"] == 1
    assert ada.files(action="check", things=["db"]) == {"is_free": True}
    with team.unchanged():
        assert ember.files(action="check", things=["db", "x"])["taken"].startswith(
            "port:8000 db has been held by 'ada' "
        )
    refused = ember.wrong("files", action="claim", paths=["a.py"], things=["db"])
    assert refused["error"] == "taken"
    assert [each["holder"] for each in ember.files(action="list")["leased"]] == ["ada"]
    assert ada.files(action="release", things=["db"]) == {"released": ["port:8000", "db"]}
    assert ember.files(action="claim", things=["db"])["leased"][0]["fence"] == 2
    assert ember.files(action="release") == {"released": ["db"]}


@requires("files.block")
@both_engines
def test_a_project_that_blocks(team: Team) -> None:
    """Where conflicts are blocked a claim that meets another is refused, and nothing of it is held."""
    team.hub.do(lambda tx: projects.change(tx, team.project, {"conflict_mode": "block"}))
    team.joined("ada").files(action="claim", paths=["a.py"])
    ember = team.joined("ember")
    refused = ember.wrong("files", action="claim", paths=["b.py", "a.py"])
    assert (refused["error"], refused["conflicts"]) == ("scope_conflict", [{"agent": "ada", "on": ["a.py"]}])
    assert "claims" not in ember.join()


@requires("files.most")
def test_no_more_than_one_can_hold(anywhere: Team) -> None:
    """More files than an agent may hold are refused in one sentence, and none of them is held."""
    ada = anywhere.joined("ada")
    ada.files(action="claim", paths=["a.py"])
    with anywhere.unchanged():
        refused = ada.wrong("files", action="claim", paths=[f"{number}.py" for number in range(501)])
    assert refused["message"] == "paths: an agent holds 500 at most; claim patterns, such as src/**"
    assert ada.join()["claims"] == ["a.py"]


@requires("files.list")
def test_who_works_where(team: Team) -> None:
    """One list has what was claimed and what was declared."""
    team.joined("ada", files=["docs/*.md"]).files(action="claim", paths=["a.py"])
    held = team.joined("ember").files(action="list")["held"]
    assert [(each["agent"], sorted(each["files"])) for each in held] == [("ada", ["a.py", "docs/*.md"])]
    assert (
        team.agent("ember").wrong("files", action="claim")["message"]
        == "paths is missing: say which files to claim"
    )


@requires("share.artifact")
def test_artifacts(team: Team) -> None:
    """A posted artifact is listed and read by others, by its id, or by its name for the newest."""
    ada, ember = team.joined("ada"), team.joined("ember")
    ref = team.work()
    ada.share(action="post", name="spec", text="old")
    assert ada.share(action="post", name="spec", text="new", kind="design", task=ref) == {
        "id": "A-2",
        "name": "spec",
    }
    listed = ember.share(action="list")["artifacts"]
    assert [(each["id"], each["kind"], each["length"]) for each in listed] == [
        ("A-2", "design", 3),
        ("A-1", "document", 3),
    ]
    assert [each["id"] for each in ember.share(action="list", task=ref)["artifacts"]] == ["A-2"]
    assert ember.share(action="read", name="spec")["text"] == "new"
    assert ember.share(action="read", artifact="A-1")["text"] == "old"
    assert ember.wrong("share", action="read", name="nothing")["error"] == "not_found"


@requires("share.artifact")
def test_artifacts_outlive_their_run(team: Team) -> None:
    """A run that Relay's agents begin hides nothing: names, reviews and tasks find what was posted before and since."""
    ada, ember = team.joined("ada"), team.joined("ember")
    ref = team.work()
    ada.share(action="post", name="plan", text="old", task=ref)
    team.hub.do(lambda tx: runs.start(tx, team.project.id, "next", by="ada"))

    assert ember.share(action="read", name="plan")["text"] == "old"
    assert ada.share(action="review", name="plan", to="ember")["artifact"] == "A-1"
    assert ember.share(action="verdict", name="plan", verdict="approved")["verdict"] == "approved"
    ember.share(action="post", name="plan", text="new", task=ref)
    assert ada.share(action="read", name="plan")["text"] == "new"
    assert [each["id"] for each in ada.share(action="list", task=ref)["artifacts"]] == ["A-1", "A-2"]


@requires("share.artifact")
def test_many_artifacts_come_in_pages(anywhere: Team) -> None:
    """A list says from where to go on as long as there is more."""
    ada = anywhere.joined("ada")
    for number in range(25):
        ada.share(action="post", name=f"a{number}", text="x")
    first = ada.share(action="list")
    assert (len(first["artifacts"]), first["next"]) == (20, 6)
    assert len(ada.share(action="list", before=6)["artifacts"]) == 5


@requires("share.review")
def test_reviews(team: Team) -> None:
    """A reviewer gets a message, and answers once; the author gets the verdict, and everyone can read it."""
    ada, ember = team.joined("ada"), team.joined("ember")
    ada.share(action="post", name="spec", text="x")
    asked = ada.share(action="review", artifact="A-1", to="ember")
    assert (asked["artifact"], asked["reviewer"], asked["verdict"]) == ("A-1", "ember", "pending")
    assert "spec" in team.mail("ember")[0]["text"]
    assert (
        team.joined("bob").wrong("share", action="verdict", artifact="A-1", verdict="approved")["error"]
        == "not_found"
    )
    given = ember.share(action="verdict", artifact="A-1", verdict="changes_requested", text="say why")
    assert (given["verdict"], given["text"]) == ("changes_requested", "say why")
    assert "say why" in team.mail("ada")[0]["text"]
    assert ember.wrong("share", action="verdict", artifact="A-1", verdict="approved")["error"] == "conflict"
    assert [each["verdict"] for each in ada.share(action="read", artifact="A-1")["reviews"]] == [
        "changes_requested"
    ]
    assert ada.wrong("share", action="review", artifact="A-1", to="nobody")["error"] == "unknown_agent"


@requires("share.memory")
def test_memory(team: Team) -> None:
    """A memory under a name is recalled by it, or with all the rest; the project's is everyone's."""
    ada, ember = team.joined("ada"), team.joined("ember")
    assert ada.share(action="recall")["text"] is None
    ada.share(action="remember", name="style", text="four blanks")
    ada.share(action="remember", name="style", text="two blanks")
    ada.share(action="append", text="and no tabs")
    assert ada.share(action="recall", name="style")["text"] == "two blanks"
    whole = ada.share(action="recall")["text"]
    assert [words in whole for words in ("two blanks", "and no tabs", "four blanks")] == [True, True, False]
    assert ember.share(action="recall")["text"] is None
    ada.share(action="remember", name="host", text="web1", of="project")
    assert ember.share(action="recall", name="host", of="project")["text"] == "web1"
    assert ember.share(action="recall", name="port", of="project")["text"] is None


@requires("share.missing")
def test_what_is_missing(anywhere: Team) -> None:
    """Missing arguments of an action are asked for by name."""
    ada = anywhere.joined("ada")
    with every_row() as row, anywhere.unchanged():
        for said, argument in MISSING:
            with row(said):
                assert ada.wrong("share", **said)["message"].startswith(f"{argument} is missing: ")
