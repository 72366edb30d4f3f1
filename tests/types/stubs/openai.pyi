"""What we call of the package `openai`: to read its own 2,000 modules takes a third of the time of all type checks."""

import httpx2

class AsyncOpenAI:
    def __init__(self, *, base_url: str, api_key: str, http_client: httpx2.AsyncClient) -> None: ...
