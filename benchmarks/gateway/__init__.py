"""Gateways side by side: the same small servers behind each, one light client in front, in one run."""
