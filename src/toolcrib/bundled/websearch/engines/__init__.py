"""Search engines, one module each; `engine` says what a module offers."""
