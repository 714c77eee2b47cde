"""File access that cannot leave the given folders.

Every path is resolved by the kernel (`openat2`) or by a walk from descriptor to descriptor, never by looking
first and opening afterwards: swapping a folder for a link in between gains nothing. Links are followed where
they are relative and stay inside; absolute ones are refused even when they point inside. Writing replaces a
file by a new one, so that a hard link to something outside is never written through; reading through one
cannot be told from reading any other file.
"""

from toolcrib.serverkit.confined.roots import ConfinedEntry, Roots

__all__ = ["ConfinedEntry", "Roots"]
