"""Waiting times for machines and for mail, and intervals between looks."""

from dataclasses import dataclass
from datetime import timedelta

from hubbub.model.mail.wakes import GATHER


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """All times of links and of waking; tests use shorter ones."""

    hello: timedelta = timedelta(seconds=10)  # for who has connected to say who they are
    moment: timedelta = timedelta(seconds=5)  # a machine that was lost a moment ago may be back at once
    back: timedelta = timedelta(seconds=60)  # for a machine to come back while somebody waits for its outcome
    look: timedelta = timedelta(seconds=15)  # between two looks at an order that somebody waits for
    stall: timedelta = timedelta(seconds=30)  # with a link that takes nothing
    beat: timedelta = timedelta(seconds=30)  # between two words to the store on which machines are there
    ttl: timedelta = timedelta(seconds=90)  # for which one such word is good
    doubt: timedelta = timedelta(seconds=8)  # for a link to go when another process claims its machine
    certain: timedelta = timedelta(seconds=32)  # by then a link that answers no pings is gone
    gather: timedelta = timedelta(milliseconds=200)  # what machines have taken is noted together
    mail: timedelta = GATHER  # letters that come within are pointed at by one wake
    farewell: timedelta = timedelta(seconds=1)  # for machines to be told that the hub closes
