"""Issues on GitHub, as tasks refer to them: `owner/repository#number`."""

import re
from dataclasses import dataclass

from hubbub.model.errors import Invalid

_FORM = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]{0,38})/([A-Za-z0-9._-]{1,100})#([1-9][0-9]{0,8})")


@dataclass(frozen=True, slots=True)
class GitHubIssue:
    """One issue or pull request; GitHub counts them together."""

    owner: str
    repository: str
    number: int

    def __str__(self) -> str:
        return f"{self.owner}/{self.repository}#{self.number}"


def parse(text: str) -> GitHubIssue:
    """Parse the issue in `text`. Raises `Invalid`."""
    written = _FORM.fullmatch(text)
    if written is None or written[2] in (".", ".."):
        raise Invalid("an issue on GitHub is written as owner/repository#number, such as octo/parser#7")
    return GitHubIssue(written[1], written[2], int(written[3]))
