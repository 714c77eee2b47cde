"""What every vendor refuses in a request, whatever its protocol."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Iterable
from typing import Any

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_BEGINNINGS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
_DEEPEST = 100


def read(body: bytes) -> Any:
    """A request as a strict parser of JSON reads it; raises `ValueError`."""
    found = json.loads(body.decode("utf-8"), parse_constant=_no_number, parse_float=_float, parse_int=_int)
    json.dumps(found, ensure_ascii=False).encode()  # Fails where a lone surrogate was written as an escape.
    _shallow(found)
    return found


def names(values: Iterable[str]) -> list[str]:
    """Complaints about names of tools."""
    return [f"no name: {value!r}" for value in values if not NAME.fullmatch(value)]


def ids(values: Iterable[str], pattern: str) -> list[str]:
    """Complaints about ids of calls: their form, and one that stands twice."""
    given = list(values)
    wrong = [f"no id: {value!r}" for value in given if not re.fullmatch(pattern, value)]
    return wrong + (["an id stands twice"] if len(set(given)) < len(given) else [])


def picture(mime: str, data: str) -> list[str]:
    """Complaints about a picture."""
    try:
        raw = base64.b64decode(data, validate=True)
    except binascii.Error:
        return ["invalid base64"]
    if not raw.startswith(_BEGINNINGS.get(mime, b"nothing")):
        return [f"{mime} is something else: {raw[:12]!r}"]
    return ["a picture is too large"] if len(data) > 5_000_000 else []


def data_url(url: str) -> list[str]:
    """Complaints about a picture in a URL."""
    head, _, data = url.partition(";base64,")
    return picture(head.removeprefix("data:"), data)


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _float(text: str) -> float:
    if not math.isfinite(float(text)):
        raise ValueError(f"{text} is out of range")
    return float(text)


def _int(text: str) -> int:
    if len(text) > 300:
        raise ValueError("a number is out of range")
    return int(text)


def _shallow(value: Any, depth: int = 0) -> None:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _shallow(one, depth + 1)
