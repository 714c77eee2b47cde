"""A thread of a forum: several posts, each with controls and a signature."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    def post(number: int) -> str:
        controls = (
            f"<div class='post-controls'><button>{page.noted('Like')}</button><button>"
            f"{page.noted('Report')}</button></div>"
        )
        code = page.code("pre") if number % 2 else ""
        return (
            f"<div class='post' id='post-{number}'><div class='author'>user{number}"
            f"</div><div class='post-body'>{page.paragraph(4)}{code}{page.paragraph(2)}"
            f"</div>{controls}</div>"
        )

    posts = "".join(map(post, range(5)))
    return f"{page.header()}<div class='thread'>{page.heading(1)}{posts}</div>{page.sidebar()}{page.footer()}"
