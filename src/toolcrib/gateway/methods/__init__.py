"""What a client may ask: a module for each subject, whose `METHODS` lead from a name to its handler."""
