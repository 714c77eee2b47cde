"""What a person's commands ask of the host: over the local socket of a running one, or of one opened for it."""
