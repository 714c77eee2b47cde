"""What the HTTP and SSE transports share: requests, streams, headers, and the words for their failures."""
