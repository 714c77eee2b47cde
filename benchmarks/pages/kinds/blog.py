"""A personal blog post without landmarks: div after div."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    post = "".join(
        (
            f"<div class='post-title'>{page.heading(1)}</div>",
            page.paragraph(4),
            page.list(),
            page.heading(2),
            page.paragraph(5),
            page.code("language"),
            page.paragraph(2),
            page.heading(2),
            page.paragraph(4),
        )
    )
    tags = (
        f"<div class='tag-list'><a href='/t/1'>{page.noted('tag')}</a> <a href='/t/2'>"
        f"{page.noted('tag')}</a></div>"
    )
    return (
        f"<div class='wrap'>{page.header()}<div class='post hentry'>{post}</div>{tags}"
        f"{page.related()}{page.sidebar()}</div>{page.footer()}"
    )
