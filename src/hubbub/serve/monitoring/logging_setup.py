"""The hub's log: one event a line, as JSON for programs or pretty for a person at the terminal.

It holds facts about calls, never their contents: no token, no query string, no text of a message.
"""

import logging
import sys
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from hubbub.processes.log import structlog

TRACES = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)  # locals may be tokens and texts
CHATTY = (
    "asyncio",
    "httpcore2",
    "httpx2",
    "mcp",
    "sse_starlette",
    "uvicorn.error",
    "psycopg.pool",
)  # libraries, which log their own business

SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
AS_JSON: list[structlog.typing.Processor] = [
    structlog.processors.ExceptionRenderer(TRACES),
    structlog.processors.JSONRenderer(ensure_ascii=False),
]
DAEMON = Path("logs", "daemon.jsonl")  # in the data folder: the file of `keep_file`
FILE_BYTES = 5 * 1024 * 1024  # of a log file, before the next one is begun
FILES = 4  # kept, beside the one being written


def configure(*, form: str, level: str, shown: str | None = None, stream: TextIO = sys.stderr) -> None:
    """Log everything from `level` on, in the `form` auto, json or pretty; warnings of libraries too.

    `stream` gets it all, or only what is from the level `shown` on.
    """
    is_pretty = form == "pretty" or (form == "auto" and stream.isatty())
    rendered: list[structlog.typing.Processor] = (
        [
            structlog.dev.ConsoleRenderer(
                colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        ]
        if is_pretty
        else AS_JSON
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,  # first: most events are not logged at all
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_formatter(rendered))
    handler.setLevel((shown or level).upper())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in CHATTY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def keep_file(file: Path, redact: Callable[[str], str]) -> None:
    """Write the log into a file too, as lines of JSON. Call it after `configure`.

    From then on secrets are removed from the log, in all its outputs. A full file is followed by another; the last
    ones are kept beside it, with `daemon.jsonl.1` as the newest.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = RotatingFileHandler(file, maxBytes=FILE_BYTES, backupCount=FILES, encoding="utf-8", delay=True)
    handler.setFormatter(_formatter(AS_JSON))
    root = logging.getLogger()
    root.addHandler(handler)
    for each in root.handlers:
        if each.formatter is not None:
            each.setFormatter(_WithoutSecrets(each.formatter, redact))


class _WithoutSecrets(logging.Formatter):
    """Formats like another formatter, and removes the secrets from the line."""

    def __init__(self, inner: logging.Formatter, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._inner, self._redact = inner, redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(self._inner.format(record))


def _formatter(rendered: list[structlog.typing.Processor]) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*SHARED, structlog.stdlib.ExtraAdder()],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendered],
    )
