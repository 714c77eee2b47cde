"""Shared by the installers: plans, versioned folders, archives, runtimes and the install steps."""
