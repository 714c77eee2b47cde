"""The MCP clients that we know, one file each: where its config file is, and how an entry of it looks.

A module offers `client`, a `connecting.client.Client`, from which connecting, importing and exporting work.
"""
