"""A product page: description, specifications, other products, customer navigation."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    product = "".join(
        (
            page.heading(1),
            f"<p class='price'>{page.words.number()} €</p>",
            f"<button>{page.noted('Add to basket')}</button>",
            page.heading(2, f"Description {page.words.number()}"),
            page.paragraph(5),
            page.list(),
            page.heading(2, f"Specifications {page.words.number()}"),
            page.table(6, 2),
            page.paragraph(3),
        )
    )
    others = "".join(
        f"<div class='product-card'><a href='/p/{n}'>{page.noted('Other product')}</a><span>9 €</span></div>"
        for n in range(6)
    )
    more = page.part("aside", "recommendations", f"<h2>{page.noted('Customers also bought')}</h2>{others}")
    return (
        f"{page.header()}{page.breadcrumbs()}"
        f"{page.part('main', 'product-page', product)}{more}{page.newsletter()}"
        f"{page.footer()}"
    )
