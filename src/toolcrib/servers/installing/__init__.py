"""What installers share: plans, versioned places, archives, runtimes, and the order of things."""
