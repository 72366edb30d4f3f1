"""The longest functions, by the lines from their name to their end."""

import ast

from demo.jobs.desk import Desk, numbered, sources

SHOWN = 10


def report(desk: Desk, folder: str) -> str:
    """The longest functions of a folder."""
    found = [
        ((node.end_lineno or node.lineno) - node.lineno + 1, f"{name}:{node.name}")
        for name, path in sources(folder)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    found.sort(key=lambda each: (-each[0], each[1]))
    lines = [f"{length:5} {name}" for length, name in found[:SHOWN]]
    longest = (
        f"the longest has {numbered(found[0][0], 'line')}, {found[0][1]}" if found else "nothing to rank"
    )
    text = "\n".join([f"{numbered(len(found), 'function')}; {longest}", *lines])
    desk.put("functions", text)
    return text
