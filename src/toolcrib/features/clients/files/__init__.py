"""Adds or removes one entry in the config file of an MCP client; everything else stays unchanged."""
