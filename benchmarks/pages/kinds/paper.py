"""A scientific paper: abstract, sections, tables, references."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    sections = "".join(
        page.heading(2) + page.paragraph(6) + page.heading(3) + page.paragraph(4) for _ in range(4)
    )
    body = (
        page.heading(1)
        + page.heading(2, f"Abstract {page.words.number()}")
        + page.paragraph(5)
        + sections
        + page.table(6, 4, "Results")
    )
    references = (
        "<ol class='references'>" + "".join(f"<li>{page.paragraph(1)}</li>" for _ in range(6)) + "</ol>"
    )
    return f"{page.header()}{page.part('article', 'paper', body + references)}{page.sidebar()}{page.footer()}"
