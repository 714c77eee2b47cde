"""One file for each kind of account."""
