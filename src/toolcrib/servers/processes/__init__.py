"""Child processes: pipes, logs, and cleanup, so that none outlives the host."""
