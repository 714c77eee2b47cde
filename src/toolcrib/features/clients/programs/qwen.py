"""Qwen Code: a fork of Gemini CLI, with settings of its own in the same form."""

from __future__ import annotations

from dataclasses import replace

from toolcrib.features.clients.programs import gemini
from toolcrib.features.clients.transfer.dialect import MILLISECONDS, Timer

client = replace(
    gemini.client,
    title="Qwen Code",
    file=lambda folders: folders.home / ".qwen" / "settings.json",
    afterwards="It takes effect in new sessions of Qwen Code.",
    dialect=replace(
        gemini.client.dialect,
        start=(Timer(key="discoveryTimeoutMs", unit=MILLISECONDS),),
    ),
    project=(".qwen/settings.json",),
    other_names=("qwen-code",),
)
