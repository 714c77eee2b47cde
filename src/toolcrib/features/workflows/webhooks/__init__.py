"""What a webhook receives: bodies, signatures, rate limits and the answer; no web framework."""
