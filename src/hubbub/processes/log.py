"""The log of a process: structlog, which is imported here alone.

Of itself it imports `rich` with Pygments, for coloured stack traces that we do not show, and `greenlet`:
160 modules, which would take 5 MB in each hub and bridge.
"""

import sys

UNUSED = ("greenlet", "rich")

_blocked = [name for name in UNUSED if name not in sys.modules]
sys.modules.update(dict.fromkeys(_blocked))  # type: ignore[arg-type]  # None: the import fails
try:
    import structlog
finally:
    for _name in _blocked:
        del sys.modules[_name]

__all__ = ["structlog"]
