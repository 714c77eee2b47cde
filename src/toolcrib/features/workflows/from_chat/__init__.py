"""Makes workflows from what was called in chats: the same calls, with references and parameters."""
