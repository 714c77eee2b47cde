"""What `toolcrib add` was told: from its words and options to an entry, a package, or a document."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.cli import paste
from toolcrib.cli.output import label, note
from toolcrib.cli.proposal import make_entry, read_pairs
from toolcrib.cli.surface import Surface
from toolcrib.errors import UsageError

if TYPE_CHECKING:
    from toolcrib.config.paste.pasted import Document, Entries, Install


def understood(first: str, given: dict[str, Any]) -> tuple[str, Install | Document | dict[str, Any] | None]:
    """The name, which may be empty for a package or a document, and what is to be added."""
    from toolcrib.config.paste.pasted import Address, Entries

    kind, transport = given["kind"], given["transport"]
    if kind:
        return first, _entry(given, given["target"], kind)
    name, what = paste.parted(first, given["target"])
    if transport and name:
        return name, _entry(given, what, transport)
    found = paste.understood(name, what, as_is=given["as_is"])
    if isinstance(found, Address):
        headers = [f"{key}: {value}" for key, value in found.headers.items()]
        given = {**given, "headers": (*headers, *given["headers"])}
        return name or found.name, _entry(given, (found.url,), transport or found.transport)
    if found is None:
        return name or what[0], _entry(given, what, None)
    if isinstance(found, Entries):
        return _single(name, found, what, given)
    return name, found


def _single(
    name: str, found: Entries, what: tuple[str, ...], given: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    for remark in found.notes:
        label("careful:", "yellow", remark)
    ((guessed, entry),) = found.servers.items()
    own = read_pairs(given["env"], "=", "--env")
    env = {**entry.get("env", {}), **own}
    made = {**entry, **({"env": env} if env else {}), **({"cwd": given["cwd"]} if given["cwd"] else {})}
    return name or guessed, {**paste.entry_of(made, what), **extra_keys(given)}


def _entry(given: dict[str, Any], target: tuple[str, ...], kind: str | None) -> dict[str, Any]:
    env = read_pairs(given["env"], "=", "--env")
    headers = read_pairs(given["headers"], ":", "--header")
    return {**make_entry(target, kind, env, headers, given["cwd"]), **extra_keys(given)}


def check_here(entry: Mapping[str, Any], *, as_is: bool) -> None:
    """Refuse an entry that cannot work on this machine, unless it is to be added as it is."""
    from toolcrib.config.paste.checking import check_address, check_local, is_on_path
    from toolcrib.config.paste.understanding import is_launcher

    if isinstance(entry.get("url"), str):
        check_address(entry["url"])
    command = str(entry.get("command", ""))
    if as_is or not is_launcher(command):
        local = {key: value for key, value in entry.items() if not (as_is and key == "command")}
        check_local(local, os.environ, Path.cwd())
    elif not is_on_path(command, os.environ.get("PATH", os.defpath)):
        label("careful:", "yellow", f"There is no program {command!r} on your PATH yet.")


def extra_keys(given: dict[str, Any]) -> dict[str, Any]:
    """The keys that any entry may have."""
    timeouts = {"start": given["start_timeout"], "call": given["call_timeout"]}
    filters = {"include": list(given["include"]), "exclude": list(given["exclude"])}
    extra = {
        "envAllow": list(given["env_allow"]),
        "isolation": given["isolation"],
        "timeouts": {key: value for key, value in timeouts.items() if value is not None},
        "tools": {key: value for key, value in filters.items() if value},
        "lazy": given["lazy"],
    }
    switched = {"enabled": False} if given["disabled"] else {}
    return {**{key: value for key, value in extra.items() if value}, **switched}


async def read_document(
    surface: Surface, name: str, found: Document, given: dict[str, Any]
) -> tuple[str, Install | dict[str, Any] | None]:
    """The one server of a pasted document; several, or one that asks, are taken in as another host's are."""
    from toolcrib.cli.commands.import_ import take_in
    from toolcrib.cli.import_view import tell
    from toolcrib.config.paste.entry_forms import named

    found = replace(found, text=named(found.text, name))
    source = {"file": str(found.file), "host": found.host, "text": found.text}
    async with surface.reach() as crib:
        plan = await crib.run("import_plan", source)
        if not plan["servers"]:
            reasons = [f"{server}: {reason}" for server, reason in plan["refused"].items()]
            raise UsageError(
                "There is no server in it.", hint=". ".join(reasons) or "See: toolcrib add --help"
            )
        if len(plan["servers"]) != 1 or plan["servers"][0]["questions"]:
            outcome = await take_in(
                surface, crib, source, {"only": (), "conflicts": None, "dry_run": given["dry_run"]}
            )
            if not surface.answer([outcome]):
                tell([outcome])
            return name, None
    return _of_document(name, found, given)


def _of_document(name: str, found: Document, given: dict[str, Any]) -> tuple[str, Install | dict[str, Any]]:
    from toolcrib.config.importing.sources import read_words
    from toolcrib.config.paste.entry_forms import as_install

    reading = read_words(found.text, found.file, found.host)
    (draft,) = reading.drafts
    for remark in draft.notes:
        note(remark)
    package = None if given["as_is"] else as_install(draft.entry)
    name = name or draft.name or (package.name if package else "server")
    return name, package or {**draft.entry, **extra_keys(given)}
