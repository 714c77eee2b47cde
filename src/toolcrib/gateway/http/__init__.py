"""The gateway over streamable HTTP: a lean server of our own, with no framework on the hot path."""
