"""The hub's own metrics, for Prometheus. Labels are few and known beforehand: never a name."""

from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import ClassVar

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from hubbub.core.people.quotas import NEAR, Quota, Quotas
from hubbub.core.transaction import Transactions
from hubbub.core.work import leases, tasks
from hubbub.dialects.dialect import Dialect
from hubbub.model.cost.spending import MICRO, Measure
from hubbub.model.fleet.calls import ToolResult
from hubbub.model.lifecycle import Status
from hubbub.model.people.rights import SYSTEM
from hubbub.model.work.leases import LeaseStatus
from hubbub.serve.fleet.linked_nodes import LinkedNodes

UNKNOWN = "(unknown)"
OK = "ok"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class _Quotas(Collector):
    """The use of quotas and the refusals of all tokens together."""

    def __init__(self, quotas: Quotas) -> None:
        self._quotas = quotas

    def collect(self) -> Iterator[Metric]:
        refused = CounterMetricFamily(
            "hubbub_over_quota", "Calls that were refused for what their token has used", labels=["quota"]
        )
        for quota in Quota:
            refused.add_metric([quota], self._quotas.refused[quota])
        yield refused
        yield GaugeMetricFamily(
            "hubbub_tokens_over_quota",
            "Tokens with refused calls in the last hour",
            self._quotas.number_refused(),
        )
        highest = GaugeMetricFamily(
            "hubbub_token_use_highest",
            "The largest share of its limit that a token uses now",
            labels=["quota"],
        )
        near = GaugeMetricFamily(
            "hubbub_tokens_near_quota",
            f"Tokens that use {NEAR:.0%} of their limit now, or more",
            labels=["quota"],
        )
        for quota, shares in self._quotas.shares().items():
            highest.add_metric([quota], max(shares, default=0.0))
            near.add_metric([quota], sum(share >= NEAR for share in shares))
        yield from (highest, near)


@dataclass(slots=True)
class _Durations:
    """How long the calls of a tool took: how many up to each bound of `SECONDS`, and beyond, and the sum."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    total: float = 0.0


class _Answers(Collector):
    """The answered requests, and the durations of tools' calls, counted by the event loop.

    One of the library's counters takes a lock, and ten times as long.
    """

    def __init__(self) -> None:
        self._requests = Tally[tuple[str, int]]()
        self._calls: dict[tuple[str, str], _Durations] = {}

    def request(self, route: str, status: int) -> None:
        self._requests[route, status] += 1

    def call(self, dialect: str, tool: str, seconds: float) -> None:
        durations = self._calls.get((dialect, tool))
        if durations is None:
            durations = self._calls[dialect, tool] = _Durations()
        durations.counts[bisect_left(SECONDS, seconds)] += 1
        durations.total += seconds

    def collect(self) -> Iterator[Metric]:
        answered = CounterMetricFamily("hubbub_requests", "Requests answered", labels=["route", "status"])
        for (route, status), number in self._requests.items():
            answered.add_metric([route, str(status)], number)
        yield answered
        called = HistogramMetricFamily("hubbub_tool_seconds", "Calls of tools", labels=["dialect", "tool"])
        for (dialect, tool), durations in self._calls.items():
            up_to = zip((*map(str, SECONDS), "+Inf"), accumulate(durations.counts), strict=True)
            called.add_metric([dialect, tool], [*up_to], durations.total)
        yield called


class Clients:
    """Metric of the use that clients report, in all projects."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._tokens = Counter(
            "hubbub_client_tokens",
            "Tokens that agents' clients told of, in all projects",
            ("measure",),
            registry=registry,
        )
        self._told = Counter(
            "hubbub_client_cost_usd",
            "What clients say that cost, in US dollars: their own estimate",
            registry=registry,
        )

    def use(self, used: Mapping[Measure, int]) -> None:
        """Count the new use that clients report."""
        for measure, amount in used.items():
            if measure is Measure.TOLD:
                self._told.inc(max(0, amount) / MICRO)
            else:
                self._tokens.labels(measure).inc(max(0, amount))


class Metrics:
    """The numbers of one hub."""

    MEDIA_TYPE: ClassVar[str] = CONTENT_TYPE_LATEST

    def __init__(
        self,
        transactions: Transactions,
        streams: Callable[[], int],
        connections: Callable[[], int],
        fleet: LinkedNodes,
    ) -> None:
        """Set up the metrics; `streams` counts the open responses, `connections` those of MCP."""
        self._transactions = transactions
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._answers = _Answers()
        self._registry.register(self._answers)
        self.request = self._answers.request  # by the pattern of the route that matched, not its path
        self._tasks = Gauge("hubbub_tasks", "Tasks by status", ("status",), registry=self._registry)
        self._leases = Gauge("hubbub_leases", "Leases by status", ("status",), registry=self._registry)
        open_streams = Gauge("hubbub_open_streams", "Streams that are followed now", registry=self._registry)
        open_streams.set_function(streams)
        open_connections = Gauge(
            "hubbub_mcp_connections", "MCP sessions that are open", registry=self._registry
        )
        open_connections.set_function(connections)
        links = Gauge("hubbub_links", "Machines that are linked to this hub", registry=self._registry)
        links.set_function(lambda: len(fleet))
        self._orders = Counter(
            "hubbub_orders",
            "Orders whose result a machine has reported",
            ("outcome",),
            registry=self._registry,
        )

        self.use = Clients(self._registry).use

    def quotas(self, quotas: Quotas) -> None:
        """Show the tokens' shares of their quotas, their refusals, and the recent ones."""
        self._registry.register(_Quotas(quotas))

    def order(self, outcome: ToolResult) -> None:
        """Count an order that a machine has ended."""
        self._orders.labels(outcome.code or OK).inc()

    def call(self, dialect: Dialect, tool: str, seconds: float) -> None:
        """Count a call of a tool, with its duration; unknown tools are counted together."""
        self._answers.call(dialect.name, tool if tool in dialect.tools else UNKNOWN, seconds)

    async def text(self) -> bytes:
        """Return all numbers as of now. Raises `StoreUnavailable`."""
        totals = await self._transactions.read(SYSTEM, tasks.totals)
        for status in Status:
            self._tasks.labels(status).set(totals.get(status, 0))
        leased = await self._transactions.read(SYSTEM, leases.totals)
        for each in LeaseStatus:
            self._leases.labels(each).set(leased.get(each, 0))
        return generate_latest(self._registry)
