"""The config file: whether it can be read, and what a careful reader would remark on."""

from __future__ import annotations

import asyncio

from toolcrib.config.review import review_entry
from toolcrib.config.store import ConfigStore
from toolcrib.control.findings import Finding, Place, broken, odd, well
from toolcrib.errors import ConfigError


async def check(place: Place) -> list[Finding]:
    """The file as it is now, also where a running host keeps to an earlier state of it."""
    paths = place.paths
    try:
        config = await asyncio.to_thread(ConfigStore(paths.config_file, paths.files).read)
    except ConfigError as error:
        return [broken("config", error.message, error.hint)]
    findings = [
        odd("config", f"{name}: {remark}")
        for name, entry in config.servers.items()
        for remark in review_entry(entry.raw)
    ]
    if place.error is not None:
        findings.append(broken("config", place.error.message, place.error.hint))
    if not config.settings.global_enabled:
        findings.append(odd("config", "Everything is switched off.", "Switch it on with: toolcrib on"))
    total = len(config.servers) + len(config.broken)
    return [well("config", f"{paths.config_file}: {total} server{'' if total == 1 else 's'}."), *findings]
