"""Descriptions of tools from a separate file, so that the wording can change without code.

```toml
[count_words]
description = "Count the words of a text."
parameters.text = "What to count in."
```
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolcrib.errors import UsageError
from toolcrib.serverkit.server import ToolServer
from toolcrib.suggestions import did_you_mean


def describe(server: ToolServer, file: Path, *, partial: bool = False) -> ToolServer:
    """Give the tools of a server the descriptions of a file; raises `UsageError` for what is not there.

    A `partial` server offers only some of the tools that the file describes.
    """
    for name, about in _read(file).items():
        tool = server.tools.get(name)
        if tool is None and partial:
            continue
        if tool is None:
            raise _unknown(file, "tool", name, server.tools)
        if not isinstance(about, Mapping):
            raise UsageError(f"{file.name}: [{name}] is not a table.", hint='Such as description = "…".')
        if "description" in about:
            tool.definition["description"] = str(about["description"]).strip()
        properties = tool.definition["inputSchema"].get("properties", {})
        for parameter, text in dict(about.get("parameters", {})).items():
            if parameter not in properties:
                raise _unknown(file, f"parameter of {name}", parameter, properties)
            properties[parameter]["description"] = str(text).strip()
    return server


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read: {error.strerror}.", hint="Put it next to the server."
        ) from None
    except ValueError as error:
        raise UsageError(f"{file} is not valid TOML: {error}.", hint="Fix it.") from None


def _unknown(file: Path, what: str, name: str, known: Iterable[str]) -> UsageError:
    return UsageError(f"{file.name}: there is no {what} {name!r}.", hint=did_you_mean(name, list(known)))
