"""Approvals of desktop tools: what a call acts on, how the question shows it, how all input is stopped."""
