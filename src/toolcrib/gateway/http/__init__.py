"""The gateway over streamable HTTP: a lean ASGI application of our own, with no framework on the hot path."""
