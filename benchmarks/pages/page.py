"""A saved page, and what a good extraction of it keeps and leaves out."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class SavedPage:
    """HTML with expectations; texts are compared without regard to spaces and punctuation."""

    name: str
    kind: str
    html: bytes
    url: str = "https://site.example/section/page"
    headings: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    """Cells of tables with data."""
    code: list[str] = field(default_factory=list)
    """Whole code blocks."""
    prose: list[str] = field(default_factory=list)
    """Sentences of the main text."""
    boilerplate: list[str] = field(default_factory=list)
    """What is on the page and not part of its content."""
    hidden: list[str] = field(default_factory=list)
    """What readers do not see."""
