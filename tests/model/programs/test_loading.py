"""Loading of many modules, without collections of garbage."""

import gc

import pytest

from hubbub.model.programs import loading

MANY = 1_000


def test_what_is_loaded_is_excluded_from_collections(request: pytest.FixtureRequest) -> None:
    """Nothing is looked through while modules are loaded, nor are they later; then garbage is collected as usual."""
    request.addfinalizer(gc.enable if gc.isenabled() else gc.disable)
    before = gc.get_freeze_count()
    with loading.at_once():
        assert not gc.isenabled()
        loaded = [[number] for number in range(MANY)]
    assert gc.isenabled()
    assert gc.get_freeze_count() - before >= len(loaded)
