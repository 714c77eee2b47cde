"""Turns the bytes of a page or document into Markdown.

`formats/` has one module for each kind of document; `worker` runs them in a process with limits, because
what is parsed here was written by others. Everything heavy is imported there, never in the server.
"""
