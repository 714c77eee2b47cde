"""Plain frozen data used by every layer."""
