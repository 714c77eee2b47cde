"""Finding elements, naming them to a model, waiting for them, and saying what an action changed."""
