"""Embedders, one file each; which one is used is a setting."""
