"""Rules that hold for everybody; each module offers `check(call, facts)` → a `Finding`, or None."""
