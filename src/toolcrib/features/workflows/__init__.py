"""Workflows: typed graphs over the tools, validated, planned by a model and run durably."""
