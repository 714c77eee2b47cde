"""A page of a web app that was rendered on the server: generated class names, data in scripts."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    def box(inside: str) -> str:
        outer, inner = page.words.number(), page.words.number()
        return f'<div class="css-{outer}"><div class="sc-{inner}">{inside}</div></div>'

    parts = "".join(box(page.heading(2) + page.paragraph(4)) for _ in range(4))
    body = box(page.heading(1) + page.paragraph(3)) + parts + box(page.code("language") + page.table())
    data = f"<script id='__NEXT_DATA__' type='application/json'>{{\"x\": \"{page.noted('state')}\"}}</script>"
    return f"<div id='__next'>{page.navigation()}<main>{body}</main>{page.footer()}</div>{data}"
