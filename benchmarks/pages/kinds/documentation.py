"""Reference documentation: a side menu, permalinks, signatures, many code blocks and tables."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter

ANCHOR = "{}<a class='headerlink' href='#x' title='Permalink'>¶</a>"


def write(page: PageWriter) -> str:
    sections = "".join(
        "<section>"
        + page.heading(2, inside=ANCHOR)
        + page.paragraph(2)
        + page.code(markup)
        + page.paragraph(1)
        + (page.table() if number % 2 else page.list())
        + "</section>"
        for number, markup in enumerate(("sphinx", "pre", "language", "numbered", "button", "sphinx"))
    )
    menu = "".join(f"<li><a href='/d/{n}'>{page.noted('Chapter')}</a></li>" for n in range(25))
    body = (
        f"<div class='body' role='main'>{page.heading(1, inside=ANCHOR)}"
        f"{page.paragraph(2)}{sections}{page.injected()}</div>"
    )
    edit = f"<p class='edit-this-page'><a href='/edit'>{page.noted('Edit this page on the forge')}</a></p>"
    return (
        f"{page.navigation()}<div class='document'>{body}"
        f"<div class='sphinxsidebar' role='navigation'><ul>{menu}</ul></div>{edit}</div>"
        f"{page.footer()}"
    )
