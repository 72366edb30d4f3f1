"""The sources of a setting, and the errors for invalid values."""

import re
from pathlib import Path

import pytest

from hubbub import settings
from hubbub.model.errors import Invalid

NAMED = re.compile(r"\bHUBBUB_[A-Z][A-Z_]*[A-Z]\b")


def test_without_anything_given_the_defaults_hold() -> None:
    """A hub listens on this machine only, at port 8420, with SQLite in the user's data folder."""
    found = settings.read({})
    assert (found.host, found.port, found.database, found.root_dialect) == (
        "127.0.0.1",
        8420,
        None,
        "hub",
    )
    assert (found.no_node, found.open_registration, found.public_url) == (False, False, None)
    assert found.data.is_absolute()


def test_every_setting_is_an_environment_variable() -> None:
    """Each setting is `HUBBUB_` and its name in capitals; an empty one is as none."""
    found = settings.read(
        {
            "HUBBUB_DATA": "/srv/data",
            "HUBBUB_CONFIG": "~/config",
            "HUBBUB_HOST": "0.0.0.0",
            "HUBBUB_PORT": "0",
            "HUBBUB_DATABASE": "postgresql://db/hub",
            "HUBBUB_ROOT_DIALECT": "relay",
            "HUBBUB_PUBLIC_URL": "https://hub.example.org/",
            "HUBBUB_NO_NODE": "yes",
            "HUBBUB_OPEN_REGISTRATION": "1",
            "HUBBUB_GITHUB_TOKEN": "ghp_1",
            "HUBBUB_GITHUB_API": "https://github.example.org/api/v3/",
            "HUBBUB_WEBHOOK_PRIVATE": "on",
            "HUBBUB_WATCH_LOOP": "50",
            "HUBBUB_LOG_FORMAT": "JSON",
            "HUBBUB_LOG_LEVEL": "",
        }
    )
    assert found == settings.Settings(
        data=Path("/srv/data"),
        config=Path.home() / "config",
        host="0.0.0.0",
        port=0,
        database="postgresql://db/hub",
        root_dialect="relay",
        public_url="https://hub.example.org",
        no_node=True,
        open_registration=True,
        github_token="ghp_1",
        github_api="https://github.example.org/api/v3",
        webhook_private=True,
        watch_loop=50,
        log_format="json",
        log_level="info",
    )


def test_what_is_given_goes_before_the_environment() -> None:
    """A flag wins over the environment; one that was not given does not."""
    found = settings.read({"HUBBUB_PORT": "1", "HUBBUB_HOST": "h"}, port="2", host=None, no_node=True)
    assert (found.port, found.host, found.no_node) == (2, "h", True)


def test_a_bad_value_is_one_sentence() -> None:
    """A value that is not allowed is refused with where it came from and what is allowed."""
    for name, value in (
        ("port", "abc"),
        ("port", "-1"),
        ("port", "65536"),
        ("port", "٨٤"),
        ("database", "mysql://x"),
        ("database", "postgresql://"),
        ("public_url", "hub.example.org"),
        ("public_url", "https:///"),
        ("public_url", "https://hub.example.org/hub"),
        ("public_url", "https://hub.example.org/?project=shop"),
        ("no_node", "perhaps"),
        ("log_level", "loud"),
        ("log_format", "xml"),
        ("host", "a\0b"),
    ):
        with pytest.raises(Invalid, match=f"^{settings.variable(name)} must be .*, not "):
            settings.read({settings.variable(name): value})
        with pytest.raises(Invalid, match=f"^--{name.replace('_', '-')} must be "):
            settings.read({}, **{name: value})


def test_a_secret_is_never_shown() -> None:
    """A token that cannot be one is refused without being quoted, and one that can be is not printed."""
    for value in ("ghp_ secret", "ghp_secret\n", "ghp_sécret"):
        with pytest.raises(Invalid, match=r"^HUBBUB_GITHUB_TOKEN must be a token, .*blanks$"):
            settings.read({"HUBBUB_GITHUB_TOKEN": value})
    assert "ghp_" not in repr(settings.read({"HUBBUB_GITHUB_TOKEN": "ghp_secret"}))


def test_a_variable_that_means_nothing_is_noticed() -> None:
    """A name that begins like ours and is none is found, with the one that it is probably meant to be."""
    environment = {
        "HUBBUB_DATABSE": "postgresql://db/hub",
        "HUBBUB_OF_OURS": "1",
        "HUBBUB_TOKEN_OF_CEDAR": "x",
        "PATH": "",
    }
    assert settings.unknown_variables(environment) == {
        "HUBBUB_DATABSE": "HUBBUB_DATABASE",
        "HUBBUB_OF_OURS": None,
    }


def test_each_variable_that_the_program_reads_is_known() -> None:
    """Whatever variable of ours is named in the source means something."""
    source = Path(settings.__file__).parent
    named = {name for file in source.rglob("*.py") for name in NAMED.findall(file.read_text("utf-8"))}
    assert len(named) > 20
    assert settings.unknown_variables(dict.fromkeys(named, "")) == {}
