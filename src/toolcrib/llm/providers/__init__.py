"""One module for each vendor, with `VENDOR` and `open_model(model, context)`."""
