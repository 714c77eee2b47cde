"""Ways to reach a server: one module for each type, as `servers/transport.py` declares it."""
