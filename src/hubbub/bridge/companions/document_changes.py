"""News of the mirrored documents from the hub: each change, as soon as it happens."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from urllib.parse import urlencode

from hubbub.bridge.transport.mcp_upstream import TEMPORARY, events_of, transport_to
from hubbub.bridge.transport.transport import Away
from hubbub.client import Hub
from hubbub.client.event_stream import STREAM
from hubbub.client.transport import FAILED
from hubbub.workspace.documents import KINDS, Subject, subject_of

PAUSE = 1.0  # seconds before we ask again, when the stream has ended


async def changes(hub: Callable[[], Hub]) -> AsyncGenerator[Subject | None, None]:
    """Yield the documents that change from now on, and None when any may have: at first, and after an outage.

    Ends if the hub does not let us listen any more. `hub` is called for each request, as its address may change.
    """

    def address() -> str:
        at = hub()
        narrowed = [("kind", kind) for kind in KINDS] + ([("project", at.project)] if at.project else [])
        return f"{at.url}/events?{urlencode(narrowed)}"

    carrier = transport_to(address, {"Authorization": f"Bearer {hub().token}", "Accept": STREAM})
    try:
        while True:
            with suppress(Away):
                async with await carrier.ask("GET", {}) as answer:
                    if answer.status >= FAILED and answer.status not in TEMPORARY:
                        return
                    if answer.status < FAILED:
                        yield None
                        async with aclosing(events_of(answer)) as events:
                            async for event in events:
                                yield _subject(event)
            await asyncio.sleep(PAUSE)
    finally:
        await carrier.aclose()


def _subject(event: bytes) -> Subject | None:
    activity = json.loads(event)
    return subject_of(activity["kind"], activity["agent"], activity["detail"])
