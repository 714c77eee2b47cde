"""Measures calls and start-up side by side with the alternatives, in one run on one machine."""
