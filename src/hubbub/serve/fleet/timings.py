"""Waiting times for machines and for mail, and intervals between looks."""

from dataclasses import dataclass
from datetime import timedelta

from hubbub.model.mail.wakes import GATHER


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """All times of links and of waking; tests use shorter ones."""

    hello: timedelta = timedelta(seconds=10)  # for a new connection to say who it is
    moment: timedelta = timedelta(seconds=5)  # a machine that was lost so recently may be back at once
    back: timedelta = timedelta(seconds=60)  # for a machine to come back while a caller waits for its outcome
    look: timedelta = timedelta(seconds=15)  # between two looks at an order that a caller waits for
    stall: timedelta = timedelta(seconds=30)  # with a link that reads nothing
    beat: timedelta = timedelta(seconds=30)  # between two reports to the store on the present machines
    ttl: timedelta = timedelta(seconds=90)  # how long such a report counts
    doubt: timedelta = timedelta(seconds=8)  # for a link to go when another process claims its machine
    certain: timedelta = timedelta(seconds=32)  # by then a link that answers no pings is gone
    gather: timedelta = timedelta(milliseconds=200)  # orders taken within it are stored together
    mail: timedelta = GATHER  # letters that come within it share a wake
    farewell: timedelta = timedelta(seconds=1)  # for machines to be told that the hub closes
