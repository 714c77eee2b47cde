"""The checks of `toolcrib doctor`, one per file; each module defines `check(context)`."""
