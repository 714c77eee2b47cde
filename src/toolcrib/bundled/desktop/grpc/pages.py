"""The page of a list that a request asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from toolcrib.bundled.desktop.pages import paginate

T = TypeVar("T")
DEFAULT = 100


def page_of(request: Any, items: Sequence[T], default: int = DEFAULT) -> tuple[Sequence[T], str]:
    """The page, and the signed token of the next one, which is valid only for the same request."""
    same = type(request)()
    same.CopyFrom(request)
    same.ClearField("page_token")
    same.ClearField("page_size")
    query = request.DESCRIPTOR.full_name, same.SerializeToString(deterministic=True)
    page = paginate(items, request.page_size, request.page_token, *query, default=default)
    return page.items, page.next_page_token
