"""Plans: shown before they are done, done at once or not at all, undone to the byte."""

import fcntl
import json
import os
import threading
from pathlib import Path

import pytest

from hubbub.clients.install.file_changes import FileChanged
from hubbub.clients.install.install_plan import (
    CannotInstall,
    ClientCommand,
    ConfigEntry,
    ConfigListItem,
    Facts,
    InstallPlan,
    InstallStep,
    OwnedFile,
)
from hubbub.clients.install.undo import undo
from tests.clients.install.conftest import SECRET, Place

KEYS = ("mcpServers", "hubbub")
OURS = {"url": "http://127.0.0.1:8420/mcp", "headers": {"Authorization": f"Bearer {SECRET}"}}


def _plan(*changes: InstallStep, over: list[Facts] | None = None) -> InstallPlan:
    plan = InstallPlan()
    undo(plan, over or [])
    plan.add(changes)
    return plan


def _apply(place: Place, plan: InstallPlan) -> list[Facts]:
    plan.apply(place.config, lambda: None)
    return plan.done


def _config(place: Place, text: str = '{\n  "a": 1\n}\n') -> Path:
    file = place.home / "settings.json"
    file.write_text(text, "utf-8")
    return file


def test_a_dry_run_shows_the_difference_and_no_token(place: Place) -> None:
    """The planned change is shown as a unified diff, with tokens masked; nothing is written."""
    file = _config(place)
    before = place.tree()
    shown = _plan(ConfigEntry(file, "json", KEYS, OURS)).diff()

    assert f"--- {file}" in shown
    assert '+    "hubbub": {' in shown
    assert SECRET not in shown
    assert place.tree() == before


def test_an_unreadable_file_is_refused_with_what_to_paste(place: Place) -> None:
    """A file that cannot be read as what it should be is left alone, and the snippet is shown (merge rule 2)."""
    file = _config(place, '{"a": ')

    with pytest.raises(CannotInstall, match="ends in the middle") as refused:
        _plan(ConfigEntry(file, "json", KEYS, OURS))
    assert json.loads(refused.value.snippet or "") == {
        "mcpServers": {"hubbub": {**OURS, "headers": {"Authorization": "Bearer ntok_…"}}}
    }
    assert file.read_text("utf-8") == '{"a": '


def test_a_file_that_is_no_text_is_refused(place: Place) -> None:
    """Bytes that are not UTF-8 are not guessed at."""
    file = place.home / "settings.json"
    file.write_bytes(b'{"a": "\xff"}')

    with pytest.raises(CannotInstall, match=r"^/.* is not UTF-8 text; nothing was changed$"):
        _plan(OwnedFile(file, "ours"))
    with pytest.raises(CannotInstall, match="not UTF-8"):
        _plan(ConfigEntry(file, "json", KEYS, OURS))


def test_another_address_under_our_name_is_a_conflict(place: Place) -> None:
    """An entry for another hub is replaced only on purpose (merge rule 3), and comes back with the uninstall."""
    file = _config(place, '{"mcpServers": {"hubbub": {"url":  "http://other"}}}')
    plan = _plan(ConfigEntry(file, "json", KEYS, OURS, same="url"))

    assert len(plan.conflicts) == 1
    assert '-{"mcpServers": {"hubbub": {"url":  "http://other"}}}' in plan.diff()
    done = _apply(place, plan)
    assert json.loads(file.read_text("utf-8"))["mcpServers"]["hubbub"] == OURS
    place.uninstall(done)
    assert file.read_text("utf-8") == '{"mcpServers": {"hubbub": {"url":  "http://other"}}}'


def test_the_same_address_with_other_fields_is_brought_up_to_date(place: Place) -> None:
    """An entry that leads to the same hub is ours to complete."""
    file = _config(place, '{"mcpServers": {"hubbub": {"url": "http://127.0.0.1:8420/mcp"}}}')

    assert not _plan(ConfigEntry(file, "json", KEYS, OURS, same="url")).conflicts


def test_links_and_rights_stay(place: Place) -> None:
    """A link stays a link, and what it leads to keeps its rights (merge rule 4)."""
    target = place.home / "dotfiles" / "settings.json"
    target.parent.mkdir()
    target.write_text("{}", "utf-8")
    target.chmod(0o640)
    file = place.home / "settings.json"
    file.symlink_to(Path("dotfiles", "settings.json"))
    before = place.tree()
    done = _apply(place, _plan(ConfigEntry(file, "json", KEYS, OURS)))

    assert file.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert json.loads(target.read_text("utf-8"))["mcpServers"]["hubbub"] == OURS
    place.uninstall(done)
    assert place.tree() == before


def test_a_link_that_leads_nowhere_is_filled(place: Place) -> None:
    """The file that a link promises is made, and taken away again."""
    file = place.home / "settings.json"
    file.symlink_to(Path("elsewhere", "settings.json"))
    before = place.tree()
    done = _apply(place, _plan(ConfigEntry(file, "json", KEYS, OURS)))

    assert (place.home / "elsewhere" / "settings.json").exists()
    place.uninstall(done)
    assert place.tree() == before


def test_a_file_that_gets_a_secret_is_for_its_owner_alone(place: Place) -> None:
    """While a file holds our token nobody else may read it; afterwards it has the rights that it had."""
    file = _config(place)
    file.chmod(0o664)
    done = _apply(place, _plan(ConfigEntry(file, "json", KEYS, OURS, private=True)))

    assert file.stat().st_mode & 0o777 == 0o600
    place.uninstall(done)
    assert file.stat().st_mode & 0o777 == 0o664


def test_a_backup_lies_beside_until_the_uninstall(place: Place) -> None:
    """The earlier content is kept with its time in its name, and removed when it is not needed any more."""
    file = _config(place)
    done = _apply(place, _plan(ConfigEntry(file, "json", KEYS, OURS)))
    (backup,) = place.home.glob("settings.json.hubbub-*.bak")

    assert backup.read_text("utf-8") == '{\n  "a": 1\n}\n'
    place.uninstall(done)
    assert not backup.exists()


def test_installing_again_keeps_what_was_there_before_the_first_time(place: Place) -> None:
    """The second install is undone to the bytes from before the first."""
    file = place.home / "made" / "settings.json"
    other = _config(place)
    before = place.tree()
    first = _apply(
        place,
        _plan(ConfigEntry(file, "json", KEYS, OURS), ConfigEntry(other, "json", KEYS, OURS, private=True)),
    )
    moved = {**OURS, "url": "http://127.0.0.1:9000/mcp"}
    second = _apply(
        place,
        _plan(
            ConfigEntry(file, "json", KEYS, moved),
            ConfigEntry(other, "json", KEYS, moved, private=True),
            over=first,
        ),
    )

    assert json.loads(other.read_text("utf-8"))["mcpServers"]["hubbub"] == moved
    place.uninstall(second)
    assert place.tree() == before


def test_what_others_changed_meanwhile_stays(place: Place) -> None:
    """A client that rewrote the whole file in its own form keeps all of it but ours."""
    file = _config(place)
    done = _apply(place, _plan(ConfigEntry(file, "json", KEYS, OURS)))
    rewritten = {**json.loads(file.read_text("utf-8")), "b": 2}
    file.write_text(json.dumps(rewritten, indent=4), "utf-8")
    place.uninstall(done)

    assert file.read_text("utf-8") == '{\n    "a": 1,\n    "b": 2\n}'


def test_an_entry_that_leads_elsewhere_by_now_is_not_ours(place: Place) -> None:
    """Changes that somebody made to our entry since stay, and are named."""
    file = _config(place)
    done = _apply(place, _plan(ConfigEntry(file, "json", KEYS, OURS, same="url")))
    file.write_text(file.read_text("utf-8").replace("8420", "9999"), "utf-8")
    plan = InstallPlan()
    undo(plan, done)

    assert "another hub" in plan.notes[0]
    assert not plan.files.changed()


def test_a_file_that_was_made_for_us_goes_though_its_client_put_a_schema_into_it(place: Place) -> None:
    """Text that a client writes into every file by itself is no loss when it goes; any other text is."""
    file = place.home / "settings.json"
    for left, is_there in (({"$schema": "https://a.example"}, False), ({"theme": "dark"}, True)):
        done = _apply(place, _plan(ConfigEntry(file, "json", KEYS, OURS)))
        file.write_text(json.dumps({**left, **json.loads(file.read_text("utf-8"))}), "utf-8")
        place.uninstall(done)
        assert file.exists() is is_there


def test_a_file_that_is_gone_needs_no_undoing(place: Place) -> None:
    """An uninstall does not bring back what somebody threw away."""
    file = _config(place)
    done = _apply(place, _plan(ConfigEntry(file, "json", KEYS, OURS)))
    file.unlink()
    place.uninstall(done)

    assert place.tree() == {}


def test_a_hook_is_put_behind_those_of_others_and_matched_by_its_command(place: Place) -> None:
    """Our element is added once, in place of none (merge rule 6), and goes alone."""
    file = _config(place, '{"hooks": {"Stop": [{"command": "mine"}]}}')
    ours = ConfigListItem(
        file, "json", ("hooks", "Stop"), {"command": "hubbub-hook x stop"}, mark="hubbub-hook x stop"
    )
    done = _apply(place, _plan(ours, ours))

    assert json.loads(file.read_text("utf-8"))["hooks"]["Stop"] == [
        {"command": "mine"},
        {"command": "hubbub-hook x stop"},
    ]
    file.write_text(file.read_text("utf-8").replace('"mine"', '"mine now"'), "utf-8")
    place.uninstall(done)
    assert file.read_text("utf-8") == '{"hooks": {"Stop": [{"command": "mine now"}]}}'


def test_a_hook_that_came_behind_ours_stays(place: Place) -> None:
    """Elements that somebody has added to a list since, behind ours, are theirs: only ours is removed."""
    file = _config(place, '{"hooks": {"Stop": [{"command": "mine"}]}}')
    ours = ConfigListItem(
        file, "json", ("hooks", "Stop"), {"command": "hubbub-hook x stop"}, mark="hubbub-hook x stop"
    )
    done = _apply(place, _plan(ours))
    settings = json.loads(file.read_text("utf-8"))
    settings["hooks"]["Stop"].append({"command": "later"})
    file.write_text(json.dumps(settings), "utf-8")

    place.uninstall(done)

    assert json.loads(file.read_text("utf-8"))["hooks"]["Stop"] == [{"command": "mine"}, {"command": "later"}]


def test_a_program_that_fails_leaves_everything_as_it_was(place: Place) -> None:
    """All or nothing: a client's own command that fails takes the files back too."""
    file = _config(place)
    before = place.tree()
    plan = _plan(
        ConfigEntry(file, "json", KEYS, OURS, private=True),
        OwnedFile(place.home / "new" / "ours.txt", "ours"),
        ClientCommand(["sh", "-c", "echo it is full >&2; exit 1"]),
    )

    with pytest.raises(CannotInstall, match="it is full"):
        plan.apply(place.config, lambda: None)
    assert place.tree() == before


def test_a_record_that_cannot_be_kept_leaves_everything_as_it_was(place: Place) -> None:
    """All or nothing: what could not be written down is not done, or it could not be undone."""
    file = _config(place)
    before = place.tree()
    plan = _plan(
        ConfigEntry(file, "json", KEYS, OURS, private=True),
        OwnedFile(place.home / "new" / "ours.txt", "ours"),
    )

    def fail() -> None:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        plan.apply(place.config, fail)
    assert place.tree() == before


def test_a_file_that_became_a_folder_is_not_overwritten(place: Place) -> None:
    """Whatever a file has become since the plan was made: then nothing is done."""
    file = _config(place)
    plan = _plan(ConfigEntry(file, "json", KEYS, OURS))
    file.unlink()
    file.mkdir()

    with pytest.raises(FileChanged, match="changed just now"):
        plan.apply(place.config, lambda: None)


def test_a_file_that_was_changed_since_it_was_read_is_not_overwritten(place: Place) -> None:
    """Between plan and deed a client may write: then nothing is done."""
    file = _config(place)
    plan = _plan(ConfigEntry(file, "json", KEYS, OURS))
    file.write_text('{"a": 2}', "utf-8")

    with pytest.raises(FileChanged, match="changed just now"):
        plan.apply(place.config, lambda: None)
    assert file.read_text("utf-8") == '{"a": 2}'
    assert [each.name for each in place.home.iterdir()] == ["settings.json"]


def test_two_installers_take_turns(place: Place) -> None:
    """A second install waits until the first has finished (merge rule 4)."""
    file = _config(place)
    plan, order = _plan(ConfigEntry(file, "json", KEYS, OURS)), []
    place.config.mkdir()
    (place.config / "kept").touch()
    folder = os.open(place.config, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    second = threading.Thread(target=plan.apply, args=(place.config, lambda: order.append("second")))
    second.start()
    order.append("first")
    os.close(folder)
    second.join()

    assert order == ["first", "second"]


def test_a_whole_file_of_ours_gives_way_to_what_was_there(place: Place) -> None:
    """A file that we replaced comes back."""
    file = _config(place, "theirs")
    plan = _plan(OwnedFile(file, "ours"))

    assert plan.conflicts
    done = _apply(place, plan)
    assert file.read_text("utf-8") == "ours"
    place.uninstall(done)
    assert file.read_text("utf-8") == "theirs"
