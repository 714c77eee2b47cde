"""The operations of a desktop, one module for each subject, with their descriptions in a file beside it.

`table.py` says how an operation is declared; the MCP tools and the gRPC methods are made from the table.
"""
