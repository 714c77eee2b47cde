"""The pure model of a workflow: which node comes next, references, conditions."""
