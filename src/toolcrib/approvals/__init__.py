"""Approvals: whether a tool call is allowed, denied, or needs the user's answer."""
