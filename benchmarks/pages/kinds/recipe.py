"""A recipe: ingredients, steps, a nutrition table, and much that is not the recipe."""

from __future__ import annotations

from benchmarks.pages.writer import PageWriter


def write(page: PageWriter) -> str:
    recipe = "".join(
        (
            page.heading(1),
            page.paragraph(4),
            page.heading(2, f"Ingredients {page.words.number()}"),
            page.list(items=7),
            page.heading(2, f"Method {page.words.number()}"),
            page.list(ordered=True, items=6),
            page.heading(2, f"Nutrition {page.words.number()}"),
            page.table(5, 2),
            page.newsletter(),
        )
    )
    return (
        f"{page.cookie_banner()}{page.header()}{page.part('article', 'recipe', recipe)}"
        f"{page.sharing()}{page.related()}{page.footer()}"
    )
