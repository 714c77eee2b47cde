"""Plans workflows: turns requests in plain language into valid graphs, and into patches of existing ones."""
