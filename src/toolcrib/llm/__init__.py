"""Talks to language models: one narrow port, one vendor a file, nothing loaded that is not used."""
