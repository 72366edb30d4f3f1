"""`hubbub`, with a clock that a test moves ahead: the file `TEST_AHEAD` holds by how many milliseconds."""

import os
from functools import partial
from pathlib import Path

from hubbub.__main__ import main
from hubbub.store.engine.sqlite import SQLite
from hubbub.store.tx import unix_ms


def _moved() -> int:
    return unix_ms() + int(Path(os.environ["TEST_AHEAD"]).read_text("ascii"))


SQLite.open = partial(SQLite.open, clock=_moved)  # type: ignore[method-assign]

if __name__ == "__main__":
    main()
