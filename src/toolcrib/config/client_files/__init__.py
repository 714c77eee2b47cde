"""Puts one entry into the config file of an MCP client, or takes it out; the rest of it stays as it is."""
