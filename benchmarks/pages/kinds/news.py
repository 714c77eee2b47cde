"""A news article with everything around it."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    story = "".join(
        (
            page.heading(1),
            f"<p class='byline'>By Ada Reader, {page.words.number()} November</p>",
            page.sharing(),
            page.paragraph(5),
            page.injected(),
            page.paragraph(4),
            f"<div class='ad-slot'><p>{page.noted('Advertisement')}</p></div>",
            page.heading(2),
            page.linked_paragraph(),
            "<blockquote>" + page.paragraph(1) + "</blockquote>",
            page.paragraph(4),
            page.newsletter(),
            page.paragraph(3),
        )
    )
    main = page.part("article", "article-body", story)
    return (
        f"{page.cookie_banner()}{page.header()}{page.breadcrumbs()}<main>{main}"
        f"{page.related()}</main>{page.sidebar()}{page.footer()}"
    )
