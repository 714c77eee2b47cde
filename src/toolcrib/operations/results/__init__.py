"""The results of operations: types with the fields that the page and `--json` get, and functions that build
them."""
