"""The web page, and the HTTP API that it uses."""
