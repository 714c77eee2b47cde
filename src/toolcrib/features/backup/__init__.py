"""Backups of a home: everything that cannot be downloaded again, in one file, and its restoration."""
