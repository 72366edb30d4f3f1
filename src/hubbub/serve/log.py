"""The hub's log: one event a line, as JSON for programs or pretty for whoever sits at the terminal.

What is logged are facts about calls, never what was said in them: no token, no query string, no text of a message.
"""

import logging
import sys
from typing import TextIO

import structlog
from structlog.dev import plain_traceback
from structlog.processors import ExceptionRenderer
from structlog.tracebacks import ExceptionDictTransformer

TRACES = ExceptionDictTransformer(show_locals=False)  # among them are tokens and texts
CHATTY = (
    "asyncio",
    "httpcore2",
    "httpx2",
    "mcp",
    "sse_starlette",
    "uvicorn.error",
    "psycopg.pool",
)  # libraries, which log their own business


def configure(*, form: str, level: str, stream: TextIO = sys.stderr) -> None:
    """Log to `stream` everything from `level` on, in the `form` auto, json or pretty; also what libraries warn of."""
    is_pretty = form == "pretty" or (form == "auto" and stream.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    rendered: list[structlog.typing.Processor] = (
        [structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=plain_traceback)]
        if is_pretty
        else [ExceptionRenderer(TRACES), structlog.processors.JSONRenderer(ensure_ascii=False)]
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendered],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in CHATTY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
