"""The node types, one a file."""
