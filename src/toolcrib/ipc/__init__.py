"""The local socket by which commands reach a running host."""
