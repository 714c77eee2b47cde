"""The little that a bundled server may use; light enough that such a server starts in a tenth of a second.

`functions` turns typed Python functions into tools, `server` and `session` speak MCP of both eras for them,
`stdio` serves them to another process, `confined` keeps file access inside given folders. Nothing here knows
the host, and nothing here loads the MCP SDK.
"""
