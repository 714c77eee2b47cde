"""One way to call a tool a file; `benchmarks/contract.py` says what a file offers."""
