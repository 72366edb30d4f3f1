"""Extras: if one is missing, one sentence tells how to get it."""

import pytest

from hubbub.model.programs import extras
from hubbub.model.programs.extras import EXTRAS, NotInstalled

MODULES = [(module, name) for name, extra in EXTRAS.items() for module in extra.modules]


def test_a_module_that_is_missing_is_said_by_its_extra() -> None:
    """Whatever of an extra is not there, and however deep it was looked for, the sentence names the extra."""
    for module, name in MODULES:
        sentence = rf"^[^.]+ needs .*: pip install 'hubbub\[{name}\]'$"
        with pytest.raises(NotInstalled, match=sentence), extras.required():
            raise ModuleNotFoundError(name=f"{module}.inner")


def test_other_missing_modules_are_faults() -> None:
    """A missing module that no extra brings is a fault of ours, and stays one."""
    with pytest.raises(ModuleNotFoundError), extras.required():
        raise ModuleNotFoundError(name="textualities")
