"""Import from and export to other hosts' config files; `programs/` describes the hosts."""
