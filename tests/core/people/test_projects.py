"""Projects: the tenants of a hub."""

from dataclasses import replace

import pytest

from hubbub.core.people import access, projects
from hubbub.model.errors import Conflict, Forbidden, Invalid, ProjectDenied
from hubbub.model.people.rights import SYSTEM, Right, Role
from hubbub.model.records import Project
from tests.core.conftest import RACERS, World, errors_of, member, person


def create(world: World, slug: str = "shop") -> Project:
    return world.acting(person(world, "eve")).do(projects.create, slug)


def test_who_makes_a_project_owns_it(world: World) -> None:
    """A project is its maker's, who becomes its owner, and the log says that it was made."""
    eve = world.acting(person(world, "eve"))
    shop = eve.do(
        projects.create, "shop", name="The shop", conflict_mode="block", repo_url="https://example.org"
    )

    assert eve.do(access.memberships) == [(shop, Role.OWNER)]
    assert eve.do(projects.show, "shop") == shop
    assert (shop.name, shop.conflict_mode, shop.repo_url) == ("The shop", "block", "https://example.org")
    (made,) = replace(eve, project=shop).log()
    assert (made.kind, made.actor, made.detail) == ("project.created", "eve", {"slug": "shop"})


def test_a_project_has_defaults(world: World) -> None:
    """Unless it is said otherwise, a project is called by its slug, warns of conflicts, and waits three minutes."""
    shop = create(world)

    assert (shop.name, shop.conflict_mode, shop.repo_url) == ("shop", "warn", None)
    assert (shop.heartbeat_interval, shop.heartbeat_ttl) == (60, 180)


def test_programs_make_no_projects(world: World) -> None:
    """Only people make projects; the owner's programs do not."""
    with pytest.raises(Forbidden, match="only a person"):
        world.acting(member(world.project, Role.OWNER)).do(projects.create, "shop")


def test_good_slugs(world: World) -> None:
    """A slug has up to 64 lower-case letters, digits and hyphens between them."""
    eve = world.acting(person(world, "eve"))
    for slug in ("a", "7", "a-b", "a--b", "x" * 64):
        assert eve.do(projects.create, slug).slug == slug


def test_bad_slugs_are_refused(world: World) -> None:
    """Any other slug is refused with what is allowed."""
    eve = world.acting(person(world, "eve"))
    for slug in ("", "-a", "a-", "-", "A", "a_b", "a b", "a\n", "ä", "张三", "x" * 65, "a/b", "a.b"):
        with pytest.raises(Invalid, match="a slug has 1 to 64 lower-case letters"):
            eve.do(projects.create, slug)
    assert eve.do(access.memberships) == []


def test_a_bad_slug_is_named_with_the_nearest_good_one(world: World) -> None:
    """The refusal ends with what was given, at most its beginning, and with the slug that was perhaps meant."""
    eve = world.acting(person(world, "eve"))
    for slug, end in (
        ("Bad Slug", "so not 'Bad Slug'; try bad-slug"),
        ("-Über_uns-", "so not '-Über_uns-'; try uber-uns"),
        ("x" * 9_000, f"so not '{'x' * 80}'; try {'x' * 64}"),
        ("张三", "so not '张三'"),
    ):
        with pytest.raises(Invalid, match=f"{end}$"):
            eve.do(projects.create, slug)


def test_bad_settings_are_refused(world: World) -> None:
    """A setting out of its range is refused, and no project is made."""
    eve = world.acting(person(world, "eve"))
    with pytest.raises(Invalid, match="the conflict mode is one of off, warn, block"):
        eve.do(projects.create, "shop", conflict_mode="maybe")
    for interval, ttl in ((0, 180), (180, 180), (10, 9), (60, 24 * 3600 + 1)):
        with pytest.raises(Invalid, match="the heartbeat interval must be"):
            eve.do(projects.create, "shop", heartbeat_interval=interval, heartbeat_ttl=ttl)
    assert eve.do(access.memberships) == []


def test_a_name_is_one_line(world: World) -> None:
    """A project's name without control characters is taken; any other is refused, also when it is changed."""
    eve = world.acting(person(world, "eve"))
    shop = eve.do(projects.create, "shop", name="张三's – shop")
    for name in ("two\nlines", "a\x1b[31mred", "\x7f", "a\r"):
        with pytest.raises(Invalid, match="a project's name has no control characters"):
            eve.do(projects.create, "other", name=name)
        with pytest.raises(Invalid, match="a project's name has no control characters"):
            eve.do(projects.change, shop, {"name": name})
    assert eve.do(projects.show, "shop") == shop


def test_a_slug_is_taken_once(world: World) -> None:
    """A second project of the same slug is refused, though its maker cannot see the first."""
    with pytest.raises(Conflict, match="there is a project 'lab' already"):
        create(world, "lab")


def test_one_slug_is_given_to_one_of_many(world: World) -> None:
    """One of many who make a project of one slug at once does; the others are told that it is there."""
    outcomes = world.acting(SYSTEM).race(*[lambda tx: projects.create(tx, "shop")] * RACERS)
    assert errors_of(outcomes) == [Conflict] * (RACERS - 1)


def test_a_project_is_shown_to_its_own(world: World) -> None:
    """A project of others is not shown, no more than one that does not exist."""
    other = world.elsewhere("other").project

    assert world.do(projects.show, "lab") == world.project
    for ref in (other.slug, str(other.id), "nowhere"):
        with pytest.raises(ProjectDenied):
            world.do(projects.show, ref)


def test_an_archived_project_is_only_read(world: World) -> None:
    """Nobody works in an archived project, whoever they are; it is read, is in no list unasked, and can be restored."""
    owner = world.acting(person(world, "eve"))
    shop = owner.do(projects.create, "shop")
    eve = replace(owner, project=shop)
    ann = replace(world.acting(member(shop, agent="ann")), project=shop)
    archived = eve.do(projects.archive, shop)

    assert archived.archived_at is not None
    for who in (eve, ann):
        assert who.do(access.enter, "shop", Right.READ) == archived
        with pytest.raises(Forbidden, match="is archived; bring it back by: hubbub project restore shop"):
            who.do(access.enter, "shop")
    assert eve.do(access.memberships) == []
    assert eve.do(access.visible) == []
    assert eve.do(access.memberships, archived=True) == [(archived, Role.OWNER)]
    assert ann.do(access.visible) == [archived]

    back = eve.do(projects.restore, eve.do(access.enter, "shop", Right.MANAGE, archived=True))
    assert ann.do(access.enter) == back == shop
    assert [each.detail for each in eve.log() if each.kind == "project.changed"] == [
        {"archived": True},
        {"archived": False},
    ]


def test_the_default_project_stays(world: World) -> None:
    """The project that is meant where none is named is not archived."""
    eve = world.acting(person(world, "eve"))
    with pytest.raises(Conflict, match="cannot be archived"):
        eve.do(projects.archive, eve.do(projects.create, projects.DEFAULT))
