"""Selectors as texts: a short form such as `role:button`, or a JSON object."""

from __future__ import annotations

import json

from toolcrib.bundled.desktop.elements.selector import Selector, parse_selector
from toolcrib.serverkit.context import ToolFailure


def read_selector(text: str) -> Selector:
    """Raises `ToolFailure` if it is not valid."""
    if not text.lstrip().startswith("{"):
        return parse_selector(text)
    try:
        return parse_selector(json.loads(text))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ToolFailure(f"The selector is not valid JSON: {error}.") from None
