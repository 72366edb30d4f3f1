"""Readings in exports: which records report used tokens, and of which conversation and model."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hubbub.model.cost.spending import MICRO, Measure, Reading
from hubbub.model.visible_text import visible
from hubbub.serve.otlp import usage_names as words
from hubbub.serve.otlp.usage_names import Event, Metric, Signal, Told

NAME = 200  # characters of a name that a client gives
MOST_TOKENS = 10**12  # of one number; more is a mistake
LAST = 2**62  # nanoseconds, in the year 2116
_to_json = json.JSONEncoder(ensure_ascii=True, sort_keys=True, default=str).encode


class Wrong(ValueError):
    """A record that claims to be about tokens, and has a value that is not a number of tokens."""


@dataclass(slots=True)
class Understood:
    """Result of reading an export: the readings, and the reasons why other records are none."""

    readings: list[Reading] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def understand(signal: Signal, told: Iterable[Told]) -> Understood:
    """Return the readings among the records. Records that are not about tokens are ignored."""
    understood = Understood()
    for each in told:
        try:
            understood.readings.extend(
                _of_metric(each) if signal is Signal.METRICS else _of_event(each, signal)
            )
        except Wrong as error:
            understood.wrong.append(str(error))
    return understood


def _of_event(told: Told, signal: Signal) -> Iterator[Reading]:
    """Read an event or a span as one reading, of one request to a model."""
    known = words.event(told, signal)
    if known is None:
        return
    weights: dict[Measure, int] = {}
    for name, parts in known.tokens.items():
        _add(weights, parts, _whole(told, name))
    if known.dollars is not None and known.dollars in told.values:
        weights[Measure.TOLD] = round(_number(told, known.dollars) * MICRO)
    if any(weights.values()):
        mark = told.mark or f"{told.at} {_to_json(dict(told.values))}"
        yield _reading(told, known, mark, value=1, weights=weights)


def _of_metric(told: Told) -> Iterator[Reading]:
    """Read a point of a metric as one reading: of the use since the last point, or since a beginning."""
    known = words.METRICS.get(told.name)
    if known is None:
        return
    parts: Mapping[Measure, int] | None = {Measure.TOLD: MICRO}
    if known.tokens is not None:
        parts = known.tokens.get(str(told.values.get(known.kind, "")))
    if parts is None:
        return
    if not math.isfinite(told.value) or not 0 <= told.value <= MOST_TOKENS:
        raise Wrong(f"{told.name} is {told.value}, which is not a number of tokens")
    mark = f"{told.name} {_to_json(dict(told.values))}"
    if not told.is_total:
        mark += f" {told.since} {told.at}"
    since = (told.since or 0) if told.is_total else None
    yield _reading(told, known, mark, value=told.value, weights=parts, since=since)


def _reading(
    told: Told,
    known: Event | Metric,
    mark: str,
    *,
    value: float,
    weights: Mapping[Measure, int],
    since: int | None = None,
) -> Reading:
    if not 0 <= told.at <= LAST:
        raise Wrong(f"{told.name} has a time that is not one")
    client = _named(told, words.CLIENT)
    conversation = _named(told, words.CONVERSATION) or _unnamed(told, client)
    return Reading(
        conversation=conversation,
        source=known.source,
        mark=mark,
        at=told.at,
        since=since,
        value=value,
        weights=weights,
        model=_named(told, words.MODEL) or "",
        client=words.CLIENTS.get(client, client) if client is not None else None,
        machine=_named(told, words.MACHINE),
        agent=_named(told, words.AGENT),
        task=_named(told, words.TASK),
    )


def _unnamed(told: Told, client: str | None) -> str:
    """Return a stand-in name for a client's unnamed conversation: all that the export says of where it runs."""
    return f"{client or 'client'} {_to_json(dict(told.resource))}"[:NAME]


def _named(told: Told, names: Sequence[str]) -> str | None:
    """Return the first of these names with a value, in a form fit to be shown and kept."""
    for values in (told.values, told.resource):
        for name in names:
            if (value := values.get(name)) not in (None, ""):
                return visible(str(value).encode("utf-8", "replace").decode()[:NAME])
    return None


def _add(weights: dict[Measure, int], parts: Mapping[Measure, int], amount: int) -> None:
    for measure, weight in parts.items():
        weights[measure] = weights.get(measure, 0) + weight * amount


def _whole(told: Told, name: str) -> int:
    return int(_number(told, name)) if name in told.values else 0


def _number(told: Told, name: str) -> float:
    """Return a number, which some clients write as text. Raises `Wrong`."""
    try:
        number = float(told.values[name])
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or not 0 <= number <= MOST_TOKENS:
        raise Wrong(f"{name} of {told.name} is not a number of tokens")
    return number
