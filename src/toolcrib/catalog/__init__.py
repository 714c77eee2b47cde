"""Known servers: a small built-in list, and an MCP registry if one is configured."""
