"""`search_servers`: servers that one could add, from our list and from a registry where one is set."""

from __future__ import annotations

import re
from typing import cast

from pydantic import Field

from toolcrib.catalog.listing import Listed, search
from toolcrib.control.answers.installing import CatalogSearch, CatalogServer
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.errors import RemoteUnreachable
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Words, all servers without any; `registry` is asked too unless it is switched off."""

    query: str = Field(default="", max_length=200)
    limit: int = Field(default=30, ge=1, le=100)
    registry: bool = True


def needs(params: Params, configured: Configured) -> Needs:
    """The configuration alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> CatalogSearch:
    """`{query, total, servers, note}`; each server is as `catalog.listing.Listed` describes it."""
    listed = search(params.query)
    found = listed[: params.limit]
    note = ""
    base = host.settings.registry_url
    if params.registry and base and params.query:
        from toolcrib.catalog.registry import search_registry

        try:
            known = {_package(one) for one in found}
            further = await search_registry(base, params.query, params.limit)
            found += [one for one in further if not one.reference or _package(one) not in known]
        except RemoteUnreachable as error:
            note = error.message
    return {
        "query": params.query,
        "total": len(listed) + len(found) - len(listed[: params.limit]),
        "servers": [cast("CatalogServer", one.as_json()) for one in found],
        "note": note,
    }


def _package(one: Listed) -> str:
    """The reference without its version."""
    return re.sub(r"(?<=[^:/])(?:@|==)[^@/]*$", "", one.reference)
