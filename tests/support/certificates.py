"""Whom the machine lets vouch for a server, read once for all clients of a process: to read it takes longer than calls.

A program of a user makes one client, or some. Tests make thousands, nearly all for a hub without TLS.
"""

import os
import ssl
from functools import cache

import httpcore2

_read = httpcore2.default_ssl_context


def read_once() -> None:
    """Have clients share the certificates read, as long as the environment names the same files."""
    httpcore2.default_ssl_context = _shared


def _shared(*, _trust_env: bool = True) -> ssl.SSLContext:
    return _of_environment(_trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _of_environment(trusted: bool, _file: str | None, _folder: str | None) -> ssl.SSLContext:
    return _read(_trust_env=trusted)
