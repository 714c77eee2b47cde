"""The gateway over streamable HTTP, with a server of our own and no framework."""
