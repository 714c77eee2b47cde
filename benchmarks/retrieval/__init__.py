"""How well and how fast tools are found, side by side with the alternatives."""
