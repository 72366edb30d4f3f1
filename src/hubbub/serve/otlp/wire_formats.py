"""The two forms of an export, JSON and protobuf: each is read into the same records, and answered in its own form.

JSON needs no library. Protobuf needs the messages of `opentelemetry-proto`, from the extra `meter`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar, Protocol

from hubbub.model.programs import extras
from hubbub.serve.http import body_limits
from hubbub.serve.otlp import usage_names as words
from hubbub.serve.otlp.usage_names import Signal, Told, Value

MOST = 20_000  # records of an export
VALUES = 400_000  # in JSON
JSON, PROTOBUF = "application/json", "application/x-protobuf"
NAMED = "event.name"  # an attribute
SKIPPED = Told("", {}, {}, 0)  # counts as a record, and says nothing
DELTA = 1  # OTLP's mark of a metric that counts since its last point

# The nesting of an export: the members' names in JSON. Protobuf has them in its own case.
NAMES: Mapping[Signal, tuple[str, str, str]] = {
    Signal.METRICS: ("resourceMetrics", "scopeMetrics", "metrics"),
    Signal.LOGS: ("resourceLogs", "scopeLogs", "logRecords"),
    Signal.TRACES: ("resourceSpans", "scopeSpans", "spans"),
}
COUNTED: Mapping[Signal, str] = {
    Signal.METRICS: "rejectedDataPoints",
    Signal.LOGS: "rejectedLogRecords",
    Signal.TRACES: "rejectedSpans",
}


_json_text = json.JSONEncoder(separators=(",", ":")).encode


class Unread(Exception):
    """An export that cannot be read; the message is a sentence. `is_large`: it contains too much."""

    def __init__(self, sentence: str, *, is_large: bool = False) -> None:
        super().__init__(sentence)
        self.is_large = is_large


class WireFormat(Protocol):
    """One form of exports."""

    media: ClassVar[str]

    def read(self, signal: Signal, body: bytes) -> list[Told]:
        """Read the records of an export. Raises `Unread`, and `NotInstalled` if a library is missing."""

    def answer(self, signal: Signal, rejected: int, why: str) -> bytes:
        """Encode the answer to an accepted export, with the number of rejected records."""

    def refusal(self, code: int, sentence: str) -> bytes:
        """Encode the answer to a refused export, with a code of gRPC."""


class Json:
    """OTLP as JSON, in which 64-bit numbers are texts."""

    media: ClassVar[str] = JSON

    def read(self, signal: Signal, body: bytes) -> list[Told]:
        if (found := body_limits.body_excess(body, VALUES)) is not None:
            is_large = found is body_limits.TOO_MANY
            raise Unread(
                f"the body holds more than {VALUES:,} values" if is_large else found.sentence,
                is_large=is_large,
            )
        try:
            export = body_limits.parse_json(body)
            return _bounded(_records(signal, export))
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            raise Unread(f"the body is no export of {signal} as OTLP/JSON has it") from None

    def answer(self, signal: Signal, rejected: int, why: str) -> bytes:
        if not rejected:
            return b"{}"
        return _written({"partialSuccess": {COUNTED[signal]: str(rejected), "errorMessage": why}})

    def refusal(self, code: int, sentence: str) -> bytes:
        return _written({"code": code, "message": sentence})


class Protobuf:
    """OTLP as protobuf."""

    media: ClassVar[str] = PROTOBUF
    modules: ClassVar[Mapping[Signal, str]] = {
        Signal.METRICS: "metrics",
        Signal.LOGS: "logs",
        Signal.TRACES: "trace",
    }

    def read(self, signal: Signal, body: bytes) -> list[Told]:
        export = self._message(signal, "Request")
        try:
            export.ParseFromString(body)
        except Exception as error:
            if type(error).__name__ != "DecodeError":  # the class is only in the library
                raise
            raise Unread(f"the body is no export of {signal} as OTLP/protobuf has it") from None
        return _bounded(_messages(signal, export))

    def answer(self, signal: Signal, rejected: int, why: str) -> bytes:
        response = self._message(signal, "Response")
        if rejected:
            partial = response.partial_success
            setattr(partial, _snake(COUNTED[signal]), rejected)
            partial.error_message = why
        written: bytes = response.SerializeToString()
        return written

    def refusal(self, code: int, sentence: str) -> bytes:
        """Encode a `google.rpc.Status`; its two fields are written out here, so that its package is not needed."""
        text = sentence.encode()[:10_000]
        return b"\x08" + _varint(code) + b"\x12" + _varint(len(text)) + text

    def _message(self, signal: Signal, kind: str) -> Any:
        name = self.modules[signal]
        with extras.required():
            module = import_module(f"opentelemetry.proto.collector.{name}.v1.{name}_service_pb2")
        return getattr(module, f"Export{name.capitalize()}Service{kind}")()


WIRE_FORMATS: Mapping[str, WireFormat] = {JSON: Json(), PROTOBUF: Protobuf()}


def _written(value: object) -> bytes:
    return _json_text(value).encode()


def _bounded(records: Iterable[Told]) -> list[Told]:
    found: list[Told] = []
    for each in records:
        if len(found) == MOST:
            raise Unread(f"an export may hold at most {MOST:,} records", is_large=True)
        found.append(each)
    return found


# ---- JSON ------------------------------------------------------------------------------------------------------


def _records(signal: Signal, export: Mapping[str, Any]) -> Iterator[Told]:
    outer, inner, innermost = NAMES[signal]
    for each in export.get(outer) or ():
        resource = _values((each.get("resource") or {}).get("attributes"))
        for scope in each.get(inner) or ():
            for record in scope.get(innermost) or ():
                yield from _of_json(signal, resource, record)


def _of_json(signal: Signal, resource: Mapping[str, Value], record: Mapping[str, Any]) -> Iterator[Told]:
    if signal is Signal.METRICS:
        yield from _points_of_json(resource, record)
        return
    attributes = record.get("attributes")
    if signal is Signal.LOGS and _is_of_no_use(_event_of_json(attributes)):
        yield SKIPPED
        return
    values = _values(attributes)
    if signal is Signal.TRACES:
        mark = f"{record.get('traceId', '')} {record.get('spanId', '')}"
        yield Told(str(record.get("name")), resource, values, int(record.get("endTimeUnixNano") or 0), mark)
        return
    at = int(record.get("timeUnixNano") or 0) or int(record.get("observedTimeUnixNano") or 0)
    body = record.get("body") or {}
    yield Told(event_name(record.get("eventName"), values, body.get("stringValue")), resource, values, at)


def _event_of_json(attributes: Iterable[Mapping[str, Any]] | None) -> str:
    """Find the name of an event that is among its attributes."""
    named = (each.get("value") for each in attributes or () if each.get("key") == NAMED)
    return str((next(named, None) or {}).get("stringValue") or "")


def _points_of_json(resource: Mapping[str, Value], metric: Mapping[str, Any]) -> Iterator[Told]:
    kind = next((each for each in ("sum", "histogram") if each in metric), None)
    if kind is None:
        return
    is_total = metric[kind].get("aggregationTemporality") not in (DELTA, "AGGREGATION_TEMPORALITY_DELTA")
    for point in metric[kind].get("dataPoints") or ():
        yield Told(
            str(metric.get("name")),
            resource,
            _values(point.get("attributes")),
            int(point.get("timeUnixNano") or 0),
            value=float(point.get("asInt", point.get("asDouble", point.get("sum", 0)))),
            since=int(point.get("startTimeUnixNano") or 0),
            is_total=is_total,
        )


def _values(attributes: Iterable[Mapping[str, Any]] | None) -> dict[str, Value]:
    """Return the attributes that are plain values."""
    found: dict[str, Value] = {}
    for each in attributes or ():
        for kind, value in (each.get("value") or {}).items():
            if kind in ("stringValue", "boolValue", "doubleValue"):
                found[each["key"]] = value
            elif kind == "intValue":
                found[each["key"]] = int(value)
    return found


def _is_of_no_use(named: str) -> bool:
    """Tell whether an event with that name among its attributes says nothing of tokens; most do not."""
    return bool(named) and named not in words.ENDINGS


def event_name(own: object, values: Mapping[str, Value], body: object) -> str:
    """Return the name of an event: from its values, else the declared one; or its text, if that is the full name.

    The declared name may be that of the place in the program instead.
    """
    named, text = str(values.get(NAMED) or own or ""), str(body or "")
    return text if "." not in named and text.endswith(named) else named


# ---- protobuf --------------------------------------------------------------------------------------------------


def _messages(signal: Signal, export: Any) -> Iterator[Told]:
    outer, inner, innermost = (_snake(each) for each in NAMES[signal])
    for each in getattr(export, outer):
        resource = _plain(each.resource.attributes)
        for scope in getattr(each, inner):
            for record in getattr(scope, innermost):
                yield from _of_message(signal, resource, record)


def _of_message(signal: Signal, resource: Mapping[str, Value], record: Any) -> Iterator[Told]:
    if signal is Signal.METRICS:
        yield from _points_of_message(resource, record)
        return
    if signal is Signal.LOGS and _is_of_no_use(_event_of_message(record.attributes)):
        yield SKIPPED
        return
    values = _plain(record.attributes)
    if signal is Signal.TRACES:
        mark = f"{record.trace_id.hex()} {record.span_id.hex()}"
        yield Told(record.name, resource, values, record.end_time_unix_nano, mark)
        return
    at = record.time_unix_nano or record.observed_time_unix_nano
    yield Told(event_name(record.event_name, values, record.body.string_value), resource, values, at)


def _event_of_message(attributes: Iterable[Any]) -> str:
    return next((str(each.value.string_value) for each in attributes if each.key == NAMED), "")


def _points_of_message(resource: Mapping[str, Value], metric: Any) -> Iterator[Told]:
    kind = metric.WhichOneof("data")
    if kind not in ("sum", "histogram"):
        return
    data = getattr(metric, kind)
    for point in data.data_points:
        yield Told(
            metric.name,
            resource,
            _plain(point.attributes),
            point.time_unix_nano,
            value=float(point.sum if kind == "histogram" else point.as_int or point.as_double),
            since=point.start_time_unix_nano,
            is_total=data.aggregation_temporality != DELTA,
        )


def _plain(attributes: Iterable[Any]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for each in attributes:
        kind = each.value.WhichOneof("value")
        if kind in ("string_value", "bool_value", "int_value", "double_value"):
            found[each.key] = getattr(each.value, kind)
    return found


def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


def _varint(number: int) -> bytes:
    """Encode a number like protobuf."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])
