"""The page in Firefox: tests of what people do most, each again on a hub of its own.

They are the same functions that run in Chromium; pytest collects them here too, with these fixtures.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Playwright

from hubbub.model.people.rights import Role
from tests.dashboard.browser import Tabs, Visitors, add_person, code_from, firefox, visitors_to
from tests.dashboard.conftest import MEMBER, VIEWER
from tests.dashboard.scene import Scene, fill
from tests.dashboard.shell.test_keyboard_only import test_ten_ways_without_a_mouse
from tests.dashboard.shell.test_keys import test_a_draft_is_there_again, test_keys_do_nothing_behind_a_dialog
from tests.dashboard.shell.test_replay_bar import (
    test_brackets_step_and_space_plays,
    test_dragging_shows_a_moment_and_a_button_leads_back,
)
from tests.dashboard.shell.test_room import test_every_column_of_the_board_is_whole_at_every_width
from tests.dashboard.shell.test_shell import (
    test_every_view_has_a_place_in_the_navigation_an_address_and_a_title,
    test_signing_out_ends_the_login,
    test_the_language_is_chosen_once_and_stays,
    test_the_theme_is_chosen_once_and_stays,
)
from tests.dashboard.views.test_messages import (
    test_a_reply_goes_to_the_other_end_and_stands_there_at_once,
)
from tests.dashboard.views.test_needs import test_an_approval_by_keys_alone
from tests.serve.served_hub import Hub, running_hub

__all__ = [
    "test_a_draft_is_there_again",
    "test_a_reply_goes_to_the_other_end_and_stands_there_at_once",
    "test_an_approval_by_keys_alone",
    "test_brackets_step_and_space_plays",
    "test_dragging_shows_a_moment_and_a_button_leads_back",
    "test_every_column_of_the_board_is_whole_at_every_width",
    "test_every_view_has_a_place_in_the_navigation_an_address_and_a_title",
    "test_keys_do_nothing_behind_a_dialog",
    "test_signing_out_ends_the_login",
    "test_ten_ways_without_a_mouse",
    "test_the_language_is_chosen_once_and_stays",
    "test_the_theme_is_chosen_once_and_stays",
]

pytestmark = [pytest.mark.system, pytest.mark.usefixtures("scene")]


@pytest.fixture(scope="module")
def tabs(playwright: Playwright) -> Iterator[Tabs]:
    """Firefox's pages."""
    with firefox(playwright) as started:
        yield Tabs(started)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A hub of the test's own: each finds the team as its own module would have it."""
    with running_hub(tmp_path / "hub", public_url=None) as running:
        add_person(running, VIEWER, Role.VIEWER)
        add_person(running, MEMBER, Role.MEMBER)
        yield running


@pytest.fixture
def scene(hub: Hub) -> Scene:
    return fill(hub.store, hub.project)


@pytest.fixture
def visitors(hub: Hub, tabs: Tabs) -> Iterator[Visitors]:
    with visitors_to(hub.url, code_from(hub), tabs) as people:
        yield people
