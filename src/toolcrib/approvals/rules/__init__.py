"""Built-in rules; each module has `check(call, facts)`, which returns a `RuleResult` or None."""
