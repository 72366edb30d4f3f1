"""What is said live only: kept nowhere, heard by whoever watches the project at this hub just then."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

Hear = Callable[[Mapping[str, object]], None]


class Whispers:
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self._hearers: dict[UUID, dict[Hear, None]] = {}

    def tell(self, project_id: UUID, content: Mapping[str, object]) -> None:
        """Tell everyone who hears the project."""
        for hear in list(self._hearers.get(project_id, ())):
            hear(content)

    @contextmanager
    def heard(self, project_id: UUID, hear: Hear) -> Iterator[None]:
        """Have `hear` called with what is told, for as long as the context lasts; it must not block."""
        self._hearers.setdefault(project_id, {})[hear] = None
        try:
            yield
        finally:
            del self._hearers[project_id][hear]
            if not self._hearers[project_id]:
                del self._hearers[project_id]
