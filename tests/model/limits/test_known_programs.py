"""Whether a command runs a program of a maker of models, whose words may pause an account."""

from hubbub.model.limits.known_programs import program_of
from tests.support.each_row import each_row

COMMANDS = [
    ("claude -p", "claude"),
    ("/usr/local/bin/codex exec -", "codex"),
    ("FOO=bar env gemini --yolo", "gemini"),
    ("nice -n 5 npx -y opencode run", "opencode"),
    ("cd work; exec claude -p", "claude"),
    ("cat notes | claude -p >out", "claude"),
    ("git pull && codex exec -", "codex"),
    ("git pull\ncodex exec -", "codex"),
    ("if true; then gemini -p; fi", "gemini"),
    ("/bin/sh -c 'cat >prompt; codex exec -'", "codex"),
    ("cat claude", None),
    ("sort <claude", None),
    ("sh claude.sh", None),
    ("./review.sh claude", None),
    ("echo 'claude; codex'", None),
    ("echo 'it", None),
    ("", None),
]


@each_row(["command", "program"], COMMANDS)
def test_the_program_of_a_command(command: str, program: str | None) -> None:
    """A known program counts where the shell runs it, and not as a word or a file of another."""
    assert program_of(command) == program
