"""The operations of a desktop, one module for each subject, with their descriptions for models in a `.toml`
file beside it.

`table.py` says how an operation is declared; the MCP tools and the gRPC methods are made from the table.
"""
