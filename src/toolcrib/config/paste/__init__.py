"""Parses what users paste after `toolcrib add`."""
