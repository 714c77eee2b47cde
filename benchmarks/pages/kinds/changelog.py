"""Release notes: many short lists under version headings."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    releases = "".join(
        page.heading(2, f"Version 4.{number}.{page.words.number()}")
        + page.heading(3, f"Fixed {page.words.number()}")
        + page.list(items=5)
        for number in range(6)
    )
    return (
        f"{page.navigation()}"
        f"{page.part('main', 'markdown-body', page.heading(1) + page.paragraph(2) + releases)}"
        f"{page.footer()}"
    )
