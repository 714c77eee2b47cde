"""Ways to install a server: one module for each kind of reference (see `servers/installing/contract.py`)."""
