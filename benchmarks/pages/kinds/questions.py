"""Frequently asked questions in collapsible parts."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    def question(number: int) -> str:
        if number % 2:
            return f"<details><summary>{page.heading(3)}</summary>{page.paragraph(3)}</details>"
        return f"<div class='faq-item'>{page.heading(3)}<div class='answer'>{page.paragraph(3)}</div></div>"

    return (
        f"{page.header()}"
        f"{page.part('main', 'faq', page.heading(1) + page.paragraph(2) + ''.join(map(question, range(10))))}"
        f"{page.footer()}"
    )
