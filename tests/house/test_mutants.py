"""The list of mutants, read and not run: `make mutants` runs it."""

import ast

import pytest

from mutants.mutant import FOLDER, ROOT, DoesNotApply, Mutant, all_mutants, is_there

LEAST = 84
SHORTEST, LONGEST = 20, 160  # characters of a sentence


def _wrong(mutant: Mutant) -> str | None:
    """Return the fault of a mutant; None if there is none."""
    try:
        changed = mutant.applied(ROOT)
    except DoesNotApply as error:
        return f"its patch does not apply any more: {error}"
    if not changed or any(text == file.read_text("utf-8") for file, text in changed.items()):
        return "its patch changes nothing"
    for file, text in changed.items():
        if not file.is_relative_to(ROOT / "src"):
            return "it changes what is no part of the product"
        if file.suffix == ".py":
            ast.parse(text)
    if not mutant.is_simulated and not is_there(mutant.test, ROOT):
        return f"there is no such test: {mutant.test}"
    if not SHORTEST <= len(mutant.breaks) <= LONGEST or not mutant.breaks.endswith("."):
        return f"it does not say in a sentence what it breaks: {mutant.breaks}"
    return None


@pytest.mark.system
def test_every_mutant_can_be_made_and_names_its_test() -> None:
    """Each mutant changes a line that there is, says which sentence that breaks, and names a test that there is."""
    mutants = all_mutants()
    wrong = [f"{each.layer}/{each.name}: {said}" for each in mutants if (said := _wrong(each))]

    assert len(mutants) >= LEAST
    assert not wrong, "\n".join(wrong)


def test_there_are_mutants_of_every_layer() -> None:
    """Each room of the product has wrongs that the tests are to notice."""
    assert {each.layer for each in all_mutants()} >= {
        *("model", "store", "core", "dialects", "serve", "dashboard"),
        *("node", "clients", "cli", "workspace", "fleet", "shellgate"),
    }
    assert not [path for path in FOLDER.rglob("*.patch") if path.parent.parent != FOLDER]
