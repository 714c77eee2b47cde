"""Stores text that came from a server in SQLite, even when it holds lone surrogates.

SQLite text is UTF-8, which has no lone surrogates. Such text is stored as a blob: a blob never equals a text,
so that two different texts stay different, also as parts of a primary key.
"""

from __future__ import annotations


def to_column(text: str) -> str | bytes:
    """The value for a text column."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def from_column(stored: str | bytes) -> str:
    """The text that `to_column` was given."""
    return stored if isinstance(stored, str) else stored.decode("utf-8", "surrogatepass")
