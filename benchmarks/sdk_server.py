"""The usual kind of server, written with the official SDK: most of its start is importing that."""

from __future__ import annotations

from mcp.server import MCPServer

server = MCPServer("usual")


@server.tool()
def echo(text: str) -> str:
    """Give the text back."""
    return text


if __name__ == "__main__":
    server.run()
