"""The host as a service of the user's system."""
