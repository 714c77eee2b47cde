"""Estimates what a tool's definition costs in a prompt; offline, a few microseconds, never exact.

Vendors count differently and their tokenizers are large, so this counts characters with weights fitted to
3,700 real MCP tool definitions and one current vocabulary (o200k): the sum was right within 1 %, nine tools
in ten within 18 %.
"""

from __future__ import annotations

_PROSE_CHARACTERS_PER_TOKEN = 4.6
_SCHEMA_CHARACTERS_PER_TOKEN = 4.15
_NAME_CHARACTERS_PER_TOKEN = 4.0
_WRAPPING = 10
"""Braces and keys around a definition."""
_TOKENS_PER_EXTRA_BYTE = 0.3
"""Scripts beyond ASCII take about one token for two or three bytes."""


def estimate_tokens(name: str, description: str, schema_json: str) -> int:
    """Tokens of a tool as it is offered to a model; `schema_json` is its schema as compact JSON."""
    tokens = (
        len(name) / _NAME_CHARACTERS_PER_TOKEN
        + _weigh(description, _PROSE_CHARACTERS_PER_TOKEN)
        + _weigh(schema_json, _SCHEMA_CHARACTERS_PER_TOKEN)
        + _WRAPPING
    )
    return round(tokens)


def _weigh(text: str, characters_per_token: float) -> float:
    tokens = len(text) / characters_per_token
    if text.isascii():
        return tokens
    return tokens + (len(text.encode("utf-8", "surrogatepass")) - len(text)) * _TOKENS_PER_EXTRA_BYTE
