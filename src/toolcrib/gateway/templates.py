"""Tells whether a URI may have been made from a URI template (RFC 6570), in time linear in both.

It is generous: whatever stands in braces may be anything. Its server has the last word.
"""

from __future__ import annotations

import re

_EXPRESSION = re.compile(r"\{[^{}]*\}")


def matches(template: str, uri: str) -> bool:
    """True when the template's literal parts stand in the URI, in their order."""
    first, *others = _EXPRESSION.split(template)
    if not others:
        return uri == template
    *middle, last = others
    end = len(uri) - len(last)
    if not uri.startswith(first) or not uri.endswith(last) or end < len(first):
        return False
    position = len(first)
    for part in middle:
        found = uri.find(part, position, end)
        if found < 0:
            return False
        position = found + len(part)
    return True


def literal_length(template: str) -> int:
    """How much of the template is fixed: the more, the more specific it is."""
    return sum(map(len, _EXPRESSION.split(template)))
