"""What can be asked of a host, one operation a file; the results are the documented `--json` shapes."""
