"""What an installer works with: a runner for programs, a scratch folder, someone to tell, and the rules."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.config.paths import make_private
from toolcrib.servers.installing.progress import Progress, unheard
from toolcrib.servers.installing.running import Runner


@dataclass(frozen=True, kw_only=True)
class InstallContext:
    """Handed to every installer."""

    runtimes: Path
    """Where Node lies that we brought ourselves."""
    cache: Path
    place: Path
    """The folder that this version has, or would have."""
    runner: Runner = field(default_factory=Runner)
    progress: Progress = unheard
    offline: bool = False
    fetch_runtimes: bool = True
    """Whether a missing Node may be fetched now; a plan that is only shown must not download it."""

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder that is gone afterwards."""
        make_private(self.cache)
        folder = Path(tempfile.mkdtemp(prefix="plan-", dir=self.cache))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
