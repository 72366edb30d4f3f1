"""The call in the documents that needs no client, typed as a reader would."""

import json
import re
import shutil
import subprocess

import pytest

from hubbub.serve.documents.library import Library
from tests.serve.served_hub import Hub
from tests.support.waiting import patience

EXAMPLE = re.compile(r"```sh\n(curl .*?)```", re.DOTALL)


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_bare_call_of_the_documents_is_answered(hub: Hub) -> None:
    """The page about MCP has a curl command that calls a tool; with a token of the hub it is answered."""
    (command,) = EXAMPLE.findall(Library.own().documents["/docs/reference/mcp"].text)
    typed = command.replace("http://127.0.0.1:8420", hub.url)
    ended = subprocess.run(
        ["bash", "-c", typed], env={"TOKEN": hub.token(), "PATH": "/usr/bin:/bin"}, capture_output=True,
        timeout=patience(), check=True,
    )  # fmt: skip
    answer = json.loads(ended.stdout)
    assert answer["result"]["structuredContent"]["ok"] is True
