"""One module for each kind of document: `MEDIA_TYPES` that it reads, and `read(document)`."""
