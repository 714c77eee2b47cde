"""Ids of runs: a run's items of maps and sub-workflows are named `run/step`, to any depth."""

from __future__ import annotations


def belongs_to(run: str | None, whole: str) -> bool:
    """Whether this is the run `whole` or a part of it."""
    return run is not None and (run == whole or run.startswith(f"{whole}/"))


def with_parents(run: str) -> list[str]:
    """The run and those that it is part of, the outermost first."""
    parts = run.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def path_in(run: str, whole: str) -> str:
    """The prefix of the steps of a part, as the whole run names them: `each[0]/`; empty for itself."""
    return f"{run[len(whole) + 1 :]}/" if run != whole else ""
