"""The settings of workflows, the object `workflows` of the config file: days and megabytes of runs that are
kept, and runs at once.
"""

from __future__ import annotations

from toolcrib.config.sections import Section, whole


class WorkflowSettings(Section):
    """How long runs of workflows are kept."""

    days: int = whole(30, least=1, most=3650)
    """Finished runs are deleted after this many days, with their screenshots."""
    megabytes: int = whole(2048, least=10)
    """The oldest finished runs are deleted when all together take more space."""
    at_once: int = whole(20, least=1, most=1000)
    """Queued runs that a host works on at the same time."""
