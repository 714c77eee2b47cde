"""A programming tutorial: short texts between code blocks of every markup."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    steps = "".join(
        page.heading(2) + page.paragraph(2) + page.code(markup) + page.paragraph(1) + page.code(markup)
        for markup in ("language", "sphinx", "numbered", "button", "pre", "language")
    )
    return (
        f"{page.header()}"
        f"{page.part('article', 'tutorial', page.heading(1) + page.paragraph(3) + steps)}"
        f"{page.newsletter()}{page.related()}{page.footer()}"
    )
