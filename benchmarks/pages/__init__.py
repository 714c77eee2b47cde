"""Measures how well and how fast web pages become text, on saved pages of many kinds."""
