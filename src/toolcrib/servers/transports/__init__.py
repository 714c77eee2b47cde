"""Transports: one module for each server type, as `servers/transport.py` declares it."""
