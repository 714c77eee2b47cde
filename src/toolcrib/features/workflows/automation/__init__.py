"""Runs triggers: finds what is due, stores it, and starts each run once."""
