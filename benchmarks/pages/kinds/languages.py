"""A magazine article in another language."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter

LANGUAGES = ("de", "fr", "es", "ru", "ja", "zh", "ar", "hi")


def write(page: PageWriter) -> str:
    story = "".join(
        (
            page.heading(1),
            page.paragraph(5),
            page.heading(2),
            page.paragraph(6),
            page.injected(),
            page.list(),
            page.table(),
            page.paragraph(5),
        )
    )
    return (
        f"{page.cookie_banner()}{page.header()}{page.part('article', 'story', story)}"
        f"{page.sharing()}{page.related()}{page.footer()}"
    )
