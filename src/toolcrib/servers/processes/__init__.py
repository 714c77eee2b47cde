"""Child processes: their pipes, their logs, and that none of them outlives us."""
