"""The host as one MCP server, for any MCP client, in both eras of the protocol."""
