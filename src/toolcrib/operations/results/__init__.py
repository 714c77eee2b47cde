"""The results of operations: types, and functions that build them."""
