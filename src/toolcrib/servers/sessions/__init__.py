"""A session with one server: JSON-RPC, both protocol eras, and requests from either side."""
