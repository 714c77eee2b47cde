"""Import from and export to other hosts' config files; `clients/` describes the hosts."""
