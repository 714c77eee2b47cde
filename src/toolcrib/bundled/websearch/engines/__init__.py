"""Search engines, one module each, with its place in the order, the pause between requests and its own
limits; `engine` says what a module offers."""
