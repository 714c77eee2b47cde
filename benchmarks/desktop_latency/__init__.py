"""How long the desktop server takes for one operation, beside other programs that do the same."""
