"""Terms of a contract: numbered sections of plain text."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    sections = "".join(
        f"<section id='s{number}'>"
        + page.heading(2, f"{number}. Clause {page.words.number()}")
        + f"{page.paragraph(5)}{page.list(ordered=True)}</section>"
        for number in range(1, 9)
    )
    return (
        f"{page.header()}"
        f"{page.part('main', 'content', page.heading(1) + page.paragraph(2) + sections)}"
        f"{page.footer()}"
    )
