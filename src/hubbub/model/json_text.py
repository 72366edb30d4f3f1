"""JSON as the hub writes it: one line without blanks, and with all letters as they are."""

import json
from collections.abc import Callable
from json import encoder
from typing import Any

_plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _made_once() -> Callable[[Any], str]:
    """Return the encoder of `json`, which makes the half of it that is written in C anew for each value."""
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:  # in a Python without that half
        return _plain.encode
    parts = make(None, _plain.default, encoder.encode_basestring, None, ":", ",", False, False, True)
    return lambda value: "".join(parts(value, 0))


compact = _made_once()
