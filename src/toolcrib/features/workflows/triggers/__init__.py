"""Trigger types: one file each, with a `TRIGGER`."""
