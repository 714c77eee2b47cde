"""Documents that describe one server and are no host's config file, one kind a file.

A module offers `matches(data)` and `read(data, file)`, which gives a `ServerDraft`.
"""
