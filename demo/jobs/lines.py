"""The lines of each folder, code apart from the rest."""

import io
import tokenize
from collections import Counter

from demo.jobs.desk import Desk, numbered, sources

NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def report(desk: Desk, folder: str) -> str:
    """The lines of each folder below `folder`, the largest first."""
    total: Counter[str] = Counter()
    code: Counter[str] = Counter()
    for name, path in sources(folder):
        text = path.read_text("utf-8")
        where = name.rpartition("/")[0] or "."
        total[where] += text.count("\n")
        code[where] += len(_lines_of_code(text))
    lines = [f"{count:6} {code[where]:6} {where}" for where, count in total.most_common()]
    head = f"{numbered(total.total(), 'line')}, {code.total():,} of them code"
    text = "\n".join([head, *lines])
    desk.put("lines", text)
    return text


def _lines_of_code(text: str) -> set[int]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {
        line
        for token in tokens
        if token.type not in NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
