"""Enum values as a model or a gRPC client writes them: `right`, `RIGHT` or `CLICK_TYPE_RIGHT`."""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.bundled.desktop.failures import InvalidFormat


def read_enum(
    parameter: str, given: str | None, prefix: str, choices: Mapping[str, str], default: str
) -> str:
    """The chosen value; `choices` maps each accepted word to it. Raises `InvalidFormat` with the choices."""
    word = (given or "").strip().lower().removeprefix(f"{prefix.lower()}_")
    if word in ("", "unspecified"):
        return default
    if word not in choices:
        raise InvalidFormat(f"{parameter} cannot be {given!r}.", f"Choose one of: {', '.join(choices)}.")
    return choices[word]
