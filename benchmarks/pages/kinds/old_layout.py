"""A page of the nineties: a table lays out menu and text, fonts and no landmarks."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    menu = "<br>".join(f"<a href='/{n}.html'>{page.noted('Section')}</a>" for n in range(9))
    text = (
        page.heading(1)
        + page.paragraph(5)
        + page.heading(2)
        + page.paragraph(5)
        + page.code("pre")
        + page.list()
        + page.paragraph(4)
    )
    return (
        f"<table width='100%'><tr><td width='150' class='menu'>{menu}"
        f"</td><td><font size='3'>{text}</font></td></tr></table><hr>{page.footer()}"
    )
