"""A certificate of our own for 127.0.0.1 and localhost."""

from __future__ import annotations

import subprocess
from pathlib import Path


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """The files of the certificate and its key."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    files = ["-nodes", "-keyout", str(key), "-out", str(certificate), "-days", "2"]
    subprocess.run(
        [*command, *files, "-subj", "/CN=localhost", "-addext", names], check=True, capture_output=True
    )
    return certificate, key
