"""Statistics: mostly tables."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    parts = "".join(
        page.heading(2) + page.paragraph(2) + page.table(15, 5, caption=f"Table {number}")
        for number in range(4)
    )
    return (
        f"{page.header()}"
        f"{page.part('main', 'content', page.heading(1) + page.paragraph(3) + parts)}"
        f"{page.sidebar()}{page.footer()}"
    )
