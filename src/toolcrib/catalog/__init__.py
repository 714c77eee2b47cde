"""Servers worth knowing: a small list that ships with the package, and a registry where one is set."""
