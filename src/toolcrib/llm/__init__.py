"""Talks to language models: one small protocol, one file for each vendor, loaded on first use."""
