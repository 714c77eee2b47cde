"""Toolcrib: the tool room for AI agents."""
