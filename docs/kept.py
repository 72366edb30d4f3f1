"""Writes `reference/kept-files.md`: the files that agents never write, as the gate's table has them.

`make docs` runs it, and a test says when that was forgotten.
"""

from pathlib import Path

from docs.words import table
from shellgate import triggers

HEAD = """# Files that only people change

`make docs` makes this page from the code. Programs run these files, or take from them what to run, without anybody
calling them by name. Clause F4 of [the floor](../security.md#the-floor) keeps agents from writing, linking, moving and
deleting them, in any folder and in any home. A `*` stands for any part of a name, capitals make no difference, and
everything beneath such a file is protected with it. The clause also protects `.env` files, Git's own files, and, as a
whole, the folders of one program that hold such files (`.vscode`, not `.config`), so that nobody can replace them.

The files of a project itself are free, although people run them by calling them: sources, `Makefile`, `package.json`,
`.npmrc`, workflows, `.pre-commit-config.yaml`, and texts for models, such as `CLAUDE.md`, `AGENTS.md`, rules, commands
and skills. Before you run these, read what agents changed in them. Agents may read all of them, unless they
[may hold secrets](../security.md)."""

PAGE = Path(__file__).parent / "reference" / "kept-files.md"


def page() -> str:
    """The page as it is to be: a table for each kind."""
    parts = [HEAD]
    for kind in triggers.KINDS:
        rows = ([program, " ".join(f"`{each}`" for each in paths)] for program, paths in kind.files.items())
        parts += [f"## Because {kind.why}", table(["read by", "files"], rows)]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
