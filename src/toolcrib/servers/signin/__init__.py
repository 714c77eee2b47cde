"""Signing in to remote servers by OAuth: once by a person in a browser, then by what was kept of it."""
