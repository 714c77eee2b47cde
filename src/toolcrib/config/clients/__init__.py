"""The MCP clients that we can connect, one file each: where its config file is, and how an entry of it looks.

A module offers `client`, a `toolcrib.config.connecting.client.Client`.
"""
