"""Servers out of other hosts' config files, and into them; `clients/` knows the hosts."""
