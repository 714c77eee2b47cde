"""An encyclopedia article: contents, infobox, edit links, references, tables."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter

EDIT = "<span class='headline'>{}</span><span class='mw-editsection'>[<a href='/w?edit'>edit</a>]</span>"


def write(page: PageWriter) -> str:
    sections = "".join(
        page.heading(2, inside=EDIT)
        + page.paragraph(5)
        + (page.table(5, 4) if number == 1 else "")
        + page.heading(3, inside=EDIT)
        + page.paragraph(3)
        for number in range(4)
    )
    navbox = "".join(f"<a href='/w/{n}'>{page.noted('Category')}</a> · " for n in range(8))
    content = (
        f"{page.heading(1)}<div class='mw-parser-output'>{page.paragraph(4)}"
        f"{page.injected()}{sections}<div class='navbox' role='navigation'>{navbox}"
        "</div></div>"
    )
    return (
        f"<div id='content' role='main'>{content}</div><div id='mw-navigation'>"
        f"{page.navigation(10)}</div>{page.footer()}"
    )
