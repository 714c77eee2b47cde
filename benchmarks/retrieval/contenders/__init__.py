"""Ways to find tools, one file each: `NAME` and `prepare(tools)`, which returns a search for one question."""
