"""A desktop server with one window."""

from __future__ import annotations

from typing import Any

from toolcrib.serverkit import ToolServer, serve

server = ToolServer("desk", "1.0", "A desktop with one window.")


@server.tool(read_only=True)
def list_windows(app_name: str = "") -> dict[str, Any]:
    """The windows."""
    return {"windows": [{"id": 1, "title": "Notes", "app_name": "notes", "pid": 7}]}


if __name__ == "__main__":
    serve(lambda arguments: server, "usage: desktop_program.py")
