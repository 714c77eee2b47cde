"""Ways to install a server: one module for each kind of reference, as `engine/contract.py` declares it."""
