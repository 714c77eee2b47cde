"""Whether a value looks like a secret: by the name it stands under, or by itself."""

from __future__ import annotations

from toolcrib.tools.masking import Masker, is_secret_key

_masker = Masker()


def looks_secret(key: str, value: str) -> bool:
    """True for what should lie in the secret store rather than in a file."""
    return is_secret_key(key) or _masker.text(value, len(value)) != value
