"""Adds the servers of a pasted document, which may have the form of any program's config file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolcrib.cli.output import note
from toolcrib.cli.surface import Surface
from toolcrib.config.paste.entry_forms import as_install, named
from toolcrib.config.paste.pasted import Install, PastedDocument
from toolcrib.errors import UsageError
from toolcrib.features.clients.commands.import_ import ImportFile, import_source, show_outcomes
from toolcrib.features.clients.transfer.sources import read_words


async def read_document(
    surface: Surface, name: str, found: PastedDocument, *, as_is: bool, dry_run: bool
) -> tuple[str, Install | Mapping[str, Any] | None]:
    """The only server of a pasted document; None after several, or one that asks, were imported."""
    found = replace(found, text=named(found.text, name))
    source = ImportFile(file=str(found.file), host=found.host, text=found.text)
    async with surface.reach() as client:
        plan = await client.import_plan(file=source.file, host=source.host, text=source.text)
        if not plan["servers"]:
            reasons = [f"{server}: {reason}" for server, reason in plan["refused"].items()]
            raise UsageError("It contains no server.", hint=". ".join(reasons) or "See: toolcrib add --help")
        if len(plan["servers"]) != 1 or plan["servers"][0]["questions"]:
            outcome = await import_source(surface, client, source, dry_run=dry_run)
            if not surface.answer([outcome]):
                show_outcomes([outcome])
            return name, None
    return _only_server(name, found, as_is=as_is)


def _only_server(name: str, found: PastedDocument, *, as_is: bool) -> tuple[str, Install | Mapping[str, Any]]:
    (draft,) = read_words(found.text, found.file, found.host).drafts
    for remark in draft.notes:
        note(remark)
    package = None if as_is else as_install(draft.entry)
    return name or draft.name or (package.name if package else "server"), package or draft.entry
