"""Spending: the tokens that clients use and their cost, as the clients report them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum, auto
from uuid import UUID

SLICE = 300_000  # milliseconds over which spending is added up
MICRO = 1_000_000  # of a dollar in a dollar, and of tokens in the unit of prices


class Measure(StrEnum):
    """A counted measure. Input does not include tokens read from a cache or written to it."""

    INPUT = auto()
    OUTPUT = auto()
    CACHE_READ = auto()
    CACHE_WRITTEN = auto()
    TOLD = auto()  # the cost as the client reports it, in millionths of a dollar


class Source(IntEnum):
    """The channel by which a client reports its use. If several report one conversation, the smallest number counts."""

    EVENTS = 1  # one for each request to a model: exact, and reported within seconds
    METRICS = 2
    SPANS = 3
    COMMON_METRICS = 4  # by the conventions shared by all makers
    COMMON_SPANS = 5
    REPORT = 6  # from the program that started the client, at its end


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One number that a client reported about one of its conversations.

    `mark` tells it from all others of that conversation. `value` is the use itself or, with a `since`, the total of a
    counter that began then. `weights` says how much of each measure one of it is.
    """

    conversation: str
    source: Source
    mark: str
    at: int  # Unix nanoseconds
    value: float
    weights: Mapping[Measure, int]
    model: str
    since: int | None = None  # Unix nanoseconds
    client: str | None = None
    machine: str | None = None
    agent: str | None = None
    task: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Use of one model by one conversation of a client, in five minutes, for one task."""

    id: UUID
    project_id: UUID
    at: int  # start of the five minutes
    conversation: str
    client: str | None  # such as `claude-code`
    model: str  # empty if the client does not say
    agent: str | None
    machine: str | None
    task_id: UUID | None  # that the agent had under way then
    run_id: UUID | None
    input: int
    output: int
    cache_read: int
    cache_written: int
    told: int | None = None  # the cost that the client reports, in millionths of a dollar


class By(StrEnum):
    """The groupings of spending."""

    AGENT = auto()
    TASK = auto()
    RUN = auto()
    DAY = auto()
    MODEL = auto()
    MACHINE = auto()
    CLIENT = auto()
    CONVERSATION = auto()
