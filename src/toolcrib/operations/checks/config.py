"""The config file: whether it can be read, warnings about its entries, and a master switch that is off."""

from __future__ import annotations

import asyncio

from toolcrib.config.review import review_entry
from toolcrib.config.store import ConfigStore
from toolcrib.errors import ConfigError
from toolcrib.operations.health import CheckContext, CheckResult, broken, ok, warning


async def check(context: CheckContext) -> list[CheckResult]:
    """Check the file itself, even if a running host still uses an earlier version of it."""
    paths = context.paths
    try:
        config = await asyncio.to_thread(ConfigStore(paths.config_file, paths.files).read)
    except ConfigError as error:
        return [broken("config", error.message, error.hint)]
    findings = [
        warning("config", f"{name}: {remark}")
        for name, entry in config.servers.items()
        for remark in review_entry(entry.raw)
    ]
    if context.error is not None:
        findings.append(broken("config", context.error.message, context.error.hint))
    if not config.settings.global_enabled:
        findings.append(warning("config", "Everything is switched off.", "Switch it on with: toolcrib on"))
    total = len(config.servers) + len(config.broken)
    return [ok("config", f"{paths.config_file}: {total} server{'' if total == 1 else 's'}."), *findings]
