"""Why there is no connection to a PostgreSQL server, as a sentence with its remedy and without any secret.

The library gives no code for these failures, only the server's or its own words, so those are what is looked at. A
server that speaks another language gets the last sentence.
"""

import re
from collections.abc import Mapping

import psycopg
from psycopg import conninfo, pq

from hubbub.model.errors import StoreRefused, StoreUnavailable

NO_ADDRESS = (  # libpq's own words would quote the address, with its password
    "the database's address cannot be read; it has the form postgresql://user@host:port/name, "
    "with parameters of libpq, such as ?sslmode=require, and %-codes for special characters"
)
OTHERWISE = "the database server at {place} cannot be reached, or does not let the hub in"

# Words of the library or the server, and what they mean; the first match counts.
FAULTS: tuple[tuple[str, str], ...] = (
    (
        "resolve host|translate host name",
        "no machine has the name {host}; check the host in the database's address",
    ),
    (
        r'role "[^"]*" does not exist',
        "the database server at {place} has no user {user}; check the user in the database's address",
    ),
    (
        "password authentication failed",
        (
            "the database server at {place} does not take the password of {user}; "
            "check it in ~/.pgpass, PGPASSWORD or the database's address"
        ),
    ),
    (
        "no password supplied",
        "the database server at {place} asks for the password of {user}; put it into ~/.pgpass or PGPASSWORD",
    ),
    (
        r'database "[^"]*" does not exist',
        "the database server at {place} has no database {database}; make it, or check the name in its address",
    ),
    (
        "permission denied for database",
        "{user} may not connect to the database {database}; grant CONNECT on it",
    ),
    (
        "server does not support SSL",
        "the database server at {place} offers no TLS, which the database's address requires with sslmode",
    ),
    (
        "certificate|SSL error",
        (
            "TLS with the database server at {place} fails, as the one or the other's certificate is not trusted; "
            "check sslmode and sslrootcert in the database's address"
        ),
    ),
    (
        "no pg_hba.conf entry.*(no encryption|SSL off)",
        (
            "the database server at {place} does not let {user} in without TLS; "
            "add ?sslmode=require to the database's address, or a line to the server's pg_hba.conf"
        ),
    ),
    (
        "pg_hba.conf",
        (
            "the database server at {place} does not let {user} into {database} from this machine; "
            "add a line to its pg_hba.conf"
        ),
    ),
    (
        "too many clients|connection slots|too many connections",
        "all connections of the database server at {place} are in use",
    ),
    (
        "starting up|shutting down|recovery mode|not yet accepting",
        "the database server at {place} is just starting or stopping; try again soon",
    ),
    (
        "Connection refused|No such file or directory",
        "nothing answers at {place}; check host and port in the database's address, and that PostgreSQL runs there",
    ),
    (
        "timeout|timed out|unreachable|No route to host",
        "{place} does not answer; check the host in the database's address, and the network in between",
    ),
)


def readable(url: str) -> str:
    """Return the address if libpq can read it. Raises `StoreRefused`, with no part of it."""
    try:
        conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise StoreRefused(NO_ADDRESS) from None
    return url


def unconnected(error: psycopg.OperationalError, url: str) -> StoreUnavailable:
    """Explain why no connection was made to the database at `url`."""
    told = str(error)
    sentence = next((each for words, each in FAULTS if re.search(words, told)), OTHERWISE)
    asked = _asked_for(url)
    user = asked.get("user", "this user")
    return StoreUnavailable(
        sentence.format(
            place=_place(asked),
            host=asked.get("host", "localhost"),
            user=user,
            database=asked.get("dbname", user),
        )
    )


def _asked_for(url: str) -> Mapping[str, str]:
    """Return what the address says, and for the rest what the environment does."""
    usual = {each.keyword.decode(): each.val.decode() for each in pq.Conninfo.get_defaults() if each.val}
    return usual | {name: str(value) for name, value in conninfo.conninfo_to_dict(url).items() if value}


def _place(asked: Mapping[str, str]) -> str:
    host, port = asked.get("host", ""), asked.get("port", "5432")
    if not host or host.startswith("/"):
        return f"the socket {port} of this machine" + (f" in {host}" if host else "")
    return f"{host}:{port}"
