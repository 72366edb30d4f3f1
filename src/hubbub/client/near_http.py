"""Requests to a hub on this machine: HTTP/1.1 over plain connections that are kept, without another library to load."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import quote, urlsplit

import httptools

from hubbub.client.transport import CONNECT_SECONDS, READ_SECONDS, Reply, TooLate, Unreachable

HTTP_PORT = 80
CHUNK = 256 * 1024
FRAMES = frozenset({"content-length", "transfer-encoding"})  # headers that say where a body ends
WRITTEN = (
    "!#$%&'()*+,/:;=?@[]~"  # characters of an address that stay as they are, beside letters, digits and -._
)


class NearHttp:
    """A `Transport` to the hub at an address."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._url, self._prefix = url, parts.path.rstrip("/")
        self._host = parts.netloc.rpartition("@")[2]
        self._place = parts.hostname or "", parts.port or HTTP_PORT
        self._idle: list[_Connection] = []
        self._is_closed = False

    def request(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        content: bytes | None = None,
        *,
        timeout: float = READ_SECONDS,
    ) -> Reply:
        with self._asked(method, target, headers, content, timeout) as answer:
            return answer.reply()

    @contextmanager
    def stream(
        self, target: str, headers: Mapping[str, str], *, timeout: float | None
    ) -> "Iterator[_Connection]":
        with self._asked("GET", target, headers, None, timeout) as answer:
            yield answer

    def close(self) -> None:
        self._is_closed = True
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _asked(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        content: bytes | None,
        timeout: float | None,
    ) -> "Iterator[_Connection]":
        """Send a request; keep its connection afterwards, if nothing of the answer is left."""
        request = self._head(method, target, headers, content) + (content or b"")
        connection = self._kept() or _Connection(self._place)
        is_kept = False
        try:
            connection.ask(request, self._url + target, timeout)
            yield connection
            is_kept = connection.is_kept and not self._is_closed
        finally:
            if is_kept:
                self._idle.append(connection)
            else:
                connection.close()

    def _head(self, method: str, target: str, headers: Mapping[str, str], content: bytes | None) -> bytes:
        sent = {"Host": self._host, "Accept": "*/*", **headers}
        if content is not None:
            sent["Content-Length"] = str(len(content))
        lines = [f"{name}: {value}" for name, value in sent.items()]
        if not all(line.isascii() and line.isprintable() for line in lines):
            raise Unreachable("a header holds printable ASCII, and nothing else")
        where = quote(self._prefix + target, safe=WRITTEN)
        return "\r\n".join((f"{method} {where} HTTP/1.1", *lines, "", "")).encode()

    def _kept(self) -> "_Connection | None":
        """Return a connection that is free and still good."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread has taken it
                break
            if connection.is_quiet():
                return connection
            connection.close()
        return None


class _Connection:
    """One connection and, as an `Answer`, the last one on it."""

    def __init__(self, place: tuple[str, int]) -> None:
        try:
            self._socket = socket.create_connection(place, CONNECT_SECONDS)
        except OSError as error:
            raise _fault(error) from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._parser = httptools.HttpResponseParser(self)

    def ask(self, request: bytes, url: str, timeout: float | None) -> None:
        """Send a request, and wait for the headers of its answer."""
        self.status_code, self.headers = 0, dict[str, str]()
        self.is_kept = False  # after this answer, by both sides
        self._url, self._is_headed, self._is_whole = url, False, False
        self._parts: list[bytes] = []
        try:
            self._socket.settimeout(timeout)
            self._socket.sendall(request)
        except OSError as error:
            raise _fault(error) from error
        while not self._is_headed:
            self._receive()

    def chunks(self) -> Iterator[bytes]:
        while True:
            parts, self._parts = self._parts, []
            yield from parts
            if self._is_whole:
                return
            self._receive()

    def reply(self) -> Reply:
        return Reply(self.status_code, self.headers, b"".join(self.chunks()), self._url)

    def is_quiet(self) -> bool:
        """Tell whether the other side has sent nothing since the last answer, and not gone either."""
        try:
            self._socket.settimeout(0)
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        self._socket.close()

    def _receive(self) -> None:
        """Take what comes next. Raises `Unreachable` if nothing does."""
        try:
            data = self._socket.recv(CHUNK)
        except OSError as error:
            raise _fault(error) from error
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            raise Unreachable("what answers there does not speak HTTP") from error
        if not data and not self._is_whole:
            self._end()

    def _end(self) -> None:
        """Handle the end of the connection: it completes a body of undeclared length, and breaks off any other."""
        if not self._is_headed or FRAMES & self.headers.keys():
            raise Unreachable("the connection was lost")
        self._is_whole = True

    # ---- callbacks of the parser ---------------------------------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._is_headed, self.status_code = True, self._parser.get_status_code()

    def on_body(self, chunk: bytes) -> None:
        self._parts.append(chunk)

    def on_message_complete(self) -> None:
        self._is_whole, self.is_kept = True, self._parser.should_keep_alive()


def _fault(error: OSError) -> Unreachable:
    return (TooLate if isinstance(error, TimeoutError) else Unreachable)(str(error))
