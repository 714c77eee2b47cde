"""One module a vendor; each offers `describe()` and `open_model(model, context)`."""
