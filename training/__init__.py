"""Makes the model that ships with Toolcrib: from open material and base weights to one file."""
