"""The commands, one a file; each offers `command` and imports what is heavy only when it runs."""
