"""A program as the agent of a machine: it does by `hubbub mcp cmdop` what its prompt says, and prints what came of it.

The prompt is a tool and its arguments, as JSON. It prints JSON too: the tool's answer, what its words were, and its
token.
"""

import json
import os
import subprocess
import sys

MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


def main() -> None:
    tool, arguments = json.load(sys.stdin)
    params = {"name": tool, "arguments": arguments, "_meta": META}
    with subprocess.Popen(
        [sys.executable, "-m", "hubbub", "mcp", "cmdop"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}) + "\n"
        )
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())["result"]["structuredContent"]
    # Letter by letter: the machine shows no token of a hub to whoever asks its agent.
    said = {"answer": answer, "words": sys.argv, "token": " ".join(os.environ["HUBBUB_TOKEN"])}
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
