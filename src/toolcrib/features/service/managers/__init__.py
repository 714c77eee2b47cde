"""One service manager a file."""
