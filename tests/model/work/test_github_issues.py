"""Notations of an issue on GitHub."""

import pytest

from hubbub.model.errors import Invalid
from hubbub.model.work import github_issues
from hubbub.model.work.github_issues import GitHubIssue
from tests.support.each_row import each_row


def test_an_issue_is_owner_repository_and_number() -> None:
    """A reference owner/repository#number is read, and written the same again."""
    assert github_issues.parse("octo-org/my.repo_2#17") == GitHubIssue("octo-org", "my.repo_2", 17)
    assert str(GitHubIssue("octo", "parser", 7)) == "octo/parser#7"


@each_row(
    "text",
    ["", "octo/parser", "octo/parser#", "octo/parser#0", "octo/parser#007", "octo/parser#7 ", "octo#7",
     "a/b/c#7", "octo/..#7", "-octo/parser#7", "octo/par ser#7", "öcto/parser#7", "octo/parser#٧",
     "octo/parser#1234567890", "octo/%2e%2e#1", "https://github.com/octo/parser/issues/7"],
)  # fmt: skip
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    """Another form, or what could lead elsewhere in an address, is refused with the form that is right."""
    with pytest.raises(Invalid, match="owner/repository#number, such as octo/parser#7"):
        github_issues.parse(text)
