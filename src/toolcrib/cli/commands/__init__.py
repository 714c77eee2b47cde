"""The commands, one per file; each offers `command` and defers heavy imports until it runs."""
