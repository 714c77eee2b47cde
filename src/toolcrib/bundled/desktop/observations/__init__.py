"""Observations: what changes in windows, applications and elements, as events."""
