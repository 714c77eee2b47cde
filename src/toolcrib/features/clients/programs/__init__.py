"""The MCP clients that we know, one file each: where its config file is, how an entry of it looks, and the
note when a change takes effect.

A module offers `client`, an `McpClient` of `files/client.py`, from which connecting, importing and
exporting work.
"""
