"""Whether a value looks like a secret: by the key it belongs to, or by its own form."""

from __future__ import annotations

import re

LONGEST_KEY = 500
_KEYS_OF_SECRETS = (
    r"pass(?:word|wd|phrase|code)?$|^pwd$|secret|token(?!s)|api[-_]?key|access[-_]?key|private[-_]?key|"
    r"signing[-_]?key|encryption[-_]?key|auth(?:orization|entication)?$|credential|cookie|^jwt$|bearer|"
    r"session[-_]?(?:id|key)$|^otp$|^pin$|^cvv$|signature$"
)
"""In any case. Compiled on first use, which in most hosts never happens."""
FORMS_OF_SECRETS = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}"
    r"|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bxox[a-z]-[A-Za-z0-9-]{10,}|\bnpm_[A-Za-z0-9]{20,}|\bpypi-[A-Za-z0-9_-]{20,}|\bhf_[A-Za-z0-9]{20,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}"
    r"|\beyJ[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]+)*"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
    r"|(?i:[?&#;][\w.-]*(?:key|token|secret|passwd|password|auth|sig|signature|credential)=[^&;\s\"'<>#]+)"
)
"""To be used with `re.DOTALL`."""
_WORD_BORDER = r"(?<=[a-z0-9])(?=[A-Z])"


def is_secret_key(name: str) -> bool:
    """True when a key of this name usually holds a secret."""
    spaced = re.sub(_WORD_BORDER, "_", name[:LONGEST_KEY])
    return re.search(_KEYS_OF_SECRETS, spaced, re.IGNORECASE) is not None


def looks_secret(key: str, value: str) -> bool:
    """True for a value that should lie in the secret store rather than in a file."""
    return is_secret_key(key) or re.search(FORMS_OF_SECRETS, value, re.DOTALL) is not None
