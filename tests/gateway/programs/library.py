"""A server as people write them with the official SDK, which speaks both eras."""

from mcp.server.mcpserver import MCPServer
from mcp_types import Completion

server = MCPServer("library")


@server.resource("book://cover", mime_type="image/png")
def cover() -> bytes:
    return b"\x89PNG"


@server.resource("book://{title}/{page}")
def page(title: str, page: str) -> str:
    return f"page {page} of {title}"


@server.prompt()
def review(title: str) -> str:
    return f"Review {title}."


@server.completion()
async def complete(ref, argument, context) -> Completion:
    return Completion(values=[f"{argument.value}x"])


if __name__ == "__main__":
    server.run()
