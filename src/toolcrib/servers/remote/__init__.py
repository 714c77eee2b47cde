"""Shared by the HTTP and SSE transports: requests, streams, headers and errors."""
