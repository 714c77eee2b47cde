"""The first talk, with no model chosen: says what there is, where keys go, and lets the person pick."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.cli.line_input import Prompt
from toolcrib.cli.output import note

DEMO = "demo"


async def choose_model(found: Mapping[str, Any], prompt: Prompt) -> str:
    """A model's name; the demo model when nothing is typed."""
    vendors = {vendor["vendor"]: vendor for vendor in found["vendors"]}
    note("No model is chosen yet.")
    local = vendors["ollama"]
    if local["models"]:
        note(f"  Ollama is here: {', '.join('ollama:' + name for name in local['models'][:8])}")
    elif local["ready"]:
        note("  Ollama is here, but has no model yet: ollama pull qwen3")
    for vendor in vendors.values():
        if vendor["key"] and vendor["vendor"] != "ollama":
            note(f"  There is a key for {vendor['title']} ({vendor['key']}): {vendor['vendor']}:MODEL")
        elif vendor["keys"] and vendor["vendor"] != "ollama":
            note(f"  {vendor['title']} needs a key: toolcrib secret set {vendor['keys'][0]}")
    note("  demo answers without any account: a script that calls real tools.")
    note("Type a name, or Enter for demo. `agent.model` in the settings keeps it.")
    typed = await prompt.read()
    return (typed or "").strip() or DEMO
