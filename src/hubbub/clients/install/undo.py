"""Undoing an install by its recorded facts: exactly our parts are removed, whatever others have changed since."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hubbub.clients.install.file_changes import FileChanges, digest, is_backup
from hubbub.clients.install.install_plan import CannotInstall, Facts, InstallPlan, holds
from spliceconf import EDITORS, MISSING, Keys, Trace, Unreadable, find

SCHEMA = "$schema"  # opencode puts it into every file that it reads


def undo(plan: InstallPlan, done: Sequence[Facts]) -> None:
    """Restore the files from before `done`, last step first. Later changes of others stay, with a note.

    The facts may have been changed, too: nothing is deleted that does not look like ours, and no program is run.
    Raises `CannotInstall` for a file that cannot be edited any more, and for facts that no install leaves.
    """
    for facts in reversed(done):
        if facts["do"] not in UNDO:
            raise CannotInstall(
                f"the record has {str(facts['do'])!r} to undo, which install never writes; nothing was changed"
            )
        UNDO[facts["do"]](plan, facts)


def held(files: FileChanges, done: Sequence[Facts]) -> set[tuple[Path, Keys]]:
    """Return the places where entries of `done` still are: file and keys, without keys for a whole file."""
    return {
        (Path(facts["file"]), tuple(facts.get("keys", ())))
        for facts in done
        if facts["do"] in {"entry", "whole"} and _is_held(files, facts)
    }


def _is_held(files: FileChanges, facts: Facts) -> bool:
    try:
        text = files.read(Path(facts["file"]))
        if text is None:
            return False
        if facts["do"] == "whole":
            return bool(digest(text) == facts["digest"])
        present = find(EDITORS[facts["language"]].load(text), tuple(facts["keys"]))
        return _is_ours(present, facts["same"])
    except Unreadable:  # refused in a sentence when it is to be edited
        return False


def _entry(plan: InstallPlan, facts: Facts) -> None:
    def taken(text: str) -> str:
        editor, keys = EDITORS[facts["language"]], tuple(facts["keys"])
        present = find(editor.load(text), keys)
        if present is MISSING:
            return text
        if not _is_ours(present, facts["same"]):
            plan.notes.append(f"{facts['file']}: {'.'.join(keys)} leads to another hub by now, and stays")
            return text
        return editor.take(text, keys, _trace(facts, text))

    _edit(plan, facts, taken)


def _item(plan: InstallPlan, facts: Facts) -> None:
    def dropped(text: str) -> str:
        editor, keys = EDITORS[facts["language"]], tuple(facts["keys"])
        found = find(editor.load(text), keys)
        listed = found if isinstance(found, list) else []
        ours = [at for at, each in enumerate(listed) if holds(each, facts["mark"])]
        return editor.drop(text, keys, ours[-1], _trace(facts, text)) if ours else text

    _edit(plan, facts, dropped)


def _trace(facts: Facts, text: str) -> Trace:
    """Return the edit's text around its entry, with the present line ends of the file."""
    return Trace.of(facts).in_lines_of(text, facts.get("end", "\n"))


def _whole(plan: InstallPlan, facts: Facts) -> None:
    path = Path(facts["file"])
    text = plan.whole(path)
    if text is not None and digest(text) != facts["digest"]:
        plan.notes.append(f"{path} was changed since, and stays")
    elif facts["old"] is None:
        plan.files.remove(path)
    else:
        plan.files.write(path, facts["old"])


def _create(plan: InstallPlan, facts: Facts) -> None:
    path = Path(facts["file"])
    text = plan.whole(path)
    if text is not None and _says_nothing(text):
        plan.files.remove(path)


def _says_nothing(text: str) -> bool:
    """Tell whether a file that we made has no content of others by now."""
    if not text.strip():
        return True
    try:
        data = EDITORS["json"].load(text)
    except Unreadable:  # other languages, and comments, belong to others
        return False
    return isinstance(data, dict) and not data.keys() - {SCHEMA}


def _mode(plan: InstallPlan, facts: Facts) -> None:
    plan.files.modes[Path(facts["file"])] = facts["mode"]


def _backup(plan: InstallPlan, facts: Facts) -> None:
    file, backup = Path(facts["file"]), Path(facts["backup"])
    if is_backup(backup, file):
        plan.backups[file] = backup


def _folders(plan: InstallPlan, facts: Facts) -> None:
    plan.folders += [Path(each) for each in facts["folders"]]


def _edit(plan: InstallPlan, facts: Facts, edit: Callable[[str], str]) -> None:
    path = Path(facts["file"])
    try:
        text = plan.files.read(path)
        if text is not None:
            plan.files.write(path, edit(text))
    except Unreadable as error:
        place = ".".join(facts["keys"])
        raise CannotInstall(
            f"{path} {error}; nothing was changed. Mend it, or take {place} out yourself"
        ) from None


def _is_ours(present: Any, same: list[Any] | None) -> bool:
    """Tell whether the present value still leads to our hub; the client may have changed its other fields."""
    return same is None or (isinstance(present, dict) and bool(present.get(same[0]) == same[1]))


UNDO: dict[str, Callable[[InstallPlan, Facts], None]] = {
    "entry": _entry,
    "item": _item,
    "whole": _whole,
    "create": _create,
    "mode": _mode,
    "backup": _backup,
    "folders": _folders,
}
