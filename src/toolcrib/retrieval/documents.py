"""A tool as a document: the weights of its fields (name, server, description, parameters), the weight of each
of its words, and how many parameters and repeated words count.

A document depends only on its own tool, so that a server that comes, goes or changes affects no others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from toolcrib.retrieval.words import stems
from toolcrib.schema.tools import Tool


@dataclass(frozen=True)
class Field:
    """The weight of one part of a tool."""

    weight: float
    usual_length: float
    """Words; in a longer text each word counts less. Fixed, because an average would depend on other tools.
    """
    length_share: float
    """How much the length matters, from 0 to 1."""


FIELDS: Mapping[str, Field] = {
    "name": Field(4.5, 3.5, 0.5),
    "server": Field(6.0, 1.7, 0.5),
    "description": Field(1.0, 26.0, 0.5),
    "parameters": Field(0.7, 5.5, 0.5),
    "parameter descriptions": Field(0.5, 30.0, 0.5),
}
"""Fitted on questions over the tools of some 500 servers and on public sets; see docs/retrieval.md."""
SATURATION = 1.2
"""BM25's k1: how quickly repetitions of a word stop counting."""

_MOST_PARAMETERS = 200
_DEEPEST = 3
_MOST_CHOICES = 20
_MOST_REPEATED = 6
"""Repetitions that count in one field; all of them make the field longer."""


def field_texts(tool: Tool) -> dict[str, str]:
    parameters = list(islice(_parameters(tool.definition.input_schema), _MOST_PARAMETERS))
    return {
        "name": tool.definition.name,
        "server": tool.server or "",
        "description": f"{_title(tool)} {tool.definition.description}",
        "parameters": " ".join(name for name, _ in parameters),
        "parameter descriptions": " ".join(text for _, text in parameters),
    }


def field_counts(tool: Tool) -> dict[str, dict[str, float]]:
    """For each field, the weight of each of its words before saturation."""
    return {name: _counts(FIELDS[name], text) for name, text in field_texts(tool).items()}


def term_weights(tool: Tool) -> dict[str, float]:
    """The weight of each word of a tool over all fields, between 0 and `SATURATION` + 1."""
    total: dict[str, float] = {}
    for counts in field_counts(tool).values():
        for term, count in counts.items():
            total[term] = total.get(term, 0.0) + count
    # Inlined: this runs for every word of every tool.
    return {term: count * (SATURATION + 1) / (count + SATURATION) for term, count in total.items()}


def saturated(count: float) -> float:
    return count * (SATURATION + 1) / (count + SATURATION)


def _counts(field: Field, text: str) -> dict[str, float]:
    terms = stems(text)
    if not terms:
        return {}
    share = field.length_share
    weight = field.weight / (1 - share + share * len(terms) / field.usual_length)
    return {term: weight * min(count, _MOST_REPEATED) for term, count in Counter(terms).items()}


def _title(tool: Tool) -> str:
    title = tool.definition.raw.get("title") or tool.definition.annotations.get("title")
    return title if isinstance(title, str) else ""


def _parameters(schema: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Names and descriptions of parameters, with enum values."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or depth >= _DEEPEST:
        return
    for name, inner in properties.items():
        if not isinstance(inner, dict):
            yield name, ""
            continue
        yield name, _described(inner)
        yield from _parameters(inner, depth + 1)
        yield from _parameters(inner.get("items"), depth + 1)


def _described(schema: dict[str, Any]) -> str:
    text, choices = schema.get("description"), schema.get("enum")
    parts = [text] if isinstance(text, str) else []
    if isinstance(choices, list) and len(choices) <= _MOST_CHOICES:
        parts += [choice for choice in choices if isinstance(choice, str)]
    return " ".join(parts)
