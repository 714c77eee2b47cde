"""A chapter of a printed manual: title pages, notes, examples, navigation at top and bottom."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    def around(name: str) -> str:
        cells = "".join(f"<td><a href='/m/{n}'>{page.noted('Chapter')}</a></td>" for n in range(3))
        return f"<div class='{name}'><table><tr>{cells}</tr></table><hr></div>"

    sections = "".join(
        f"<div class='section'><div class='titlepage'>{page.heading(2)}</div>{page.paragraph(3)}"
        f"<div class='note'>{page.heading(3)}{page.paragraph(2)}</div><pre class='screen'>"
        + page.code("pre").removeprefix("<pre>")
        + "</div>"
        for _ in range(4)
    )
    return (
        f"{around('navheader')}<div class='chapter'><div class='titlepage'>"
        f"{page.heading(1)}</div>{page.paragraph(2)}{sections}</div>"
        f"{around('navfooter')}"
    )
