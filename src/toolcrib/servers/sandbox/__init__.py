"""Runs a server in a sandbox: its own folders, a private home, and as much network as its entry allows."""
