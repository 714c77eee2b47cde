"""Macros: stored sequences of input, waits, conditions, loops and calls, run with a trace."""
