"""All tools of a host: their public names, definitions, argument checks, calls and results."""
