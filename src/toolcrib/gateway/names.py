"""Names without the server's: what clients call tools and prompts when a gateway is asked for plain names.

A thing keeps its server's own name where that is clear. A name that two servers give, or that is the public
name of something else, would mean two things: all who claim it are shown under their public names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping


class PlainNames:
    """The names of one moment, both ways. `owned` leads from public names to the servers' own."""

    def __init__(self, owned: Mapping[str, str]) -> None:
        claims = Counter(owned.values())
        self._shown = {
            public: own
            for public, own in owned.items()
            if claims[own] == 1 and (own == public or own not in owned)
        }
        self._public = {own: public for public, own in self._shown.items()}

    def shown(self, public: str) -> str:
        """What clients call it."""
        return self._shown.get(public, public)

    def public(self, name: str) -> str:
        """The public name of what clients call so; the public name itself is always understood."""
        return self._public.get(name, name)
