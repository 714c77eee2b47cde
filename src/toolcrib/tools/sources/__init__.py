"""Where tools come from: MCP servers, inline servers, and Python functions of this process."""
