"""Ways to reach a server: one module for each type, offering `Spec` and `open(spec, inbox, context)`."""
