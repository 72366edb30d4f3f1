"""Writes `reference/kept-files.md`: the files that agents never write, as the gate's table has them.

`make docs` runs it, and a test says when that was forgotten.
"""

from pathlib import Path

from docs.words import table
from shellgate import triggers

HEAD = """# Files that only people change

Made from the code by `make docs`. These are the files from which programs run something, or take what to run, without
anybody calling them by name. Clause F4 of [the floor](../security.md#the-floor) keeps agents from writing, linking,
moving and deleting them, in any folder and in any home; a `*` stands for any part of a name, capitals make no
difference, and what lies beneath one is kept with it. So are `.env` files, all that is Git's own, and, as a whole, the
folders of one program that such files lie in (`.vscode`, not `.config`): nobody puts another in their place.

What a project is made of is free, although people run it by calling it: sources, `Makefile`, `package.json`, `.npmrc`,
workflows, `.pre-commit-config.yaml`, and the texts that models read, such as `CLAUDE.md`, `AGENTS.md`, rules, commands
and skills. Read what agents changed in these before you run it. Agents may read all of it, unless it
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
