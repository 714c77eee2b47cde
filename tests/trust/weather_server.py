"""A server whose tools are described by a JSON file, as it stands when the server starts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.stdio import serve


def create(arguments: Sequence[str]) -> ToolServer:
    """`arguments` names the file: `{tool: description}`."""
    server = ToolServer("weather", "1", "")
    for name, description in json.loads(Path(arguments[0]).read_text()).items():
        server.tool(name=name, description=description)(weather)
    return server


def weather(city: str) -> str:
    """Say how the weather is."""
    return f"fair in {city}"


if __name__ == "__main__":
    serve(create, "weather_server.py FILE")
