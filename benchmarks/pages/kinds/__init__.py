"""Kinds of pages, one module each: `write(page)` returns the body; `LANGUAGES` are optional."""
