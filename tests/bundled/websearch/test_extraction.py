"""What is kept of a page and what is left out: pages of the benchmark, and small exact examples."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby

import pytest

from benchmarks.pages.corpus import generated
from benchmarks.pages.page import SavedPage
from benchmarks.pages.scoring import score
from toolcrib.bundled.websearch.extraction import worker
from toolcrib.bundled.websearch.extraction.document import Extract, WebDocument
from toolcrib.bundled.websearch.reading import split

PROSE = "The old bridge was closed on Monday after an inspection found cracks in two of its piers."
PAGES = {kind: list(pages)[:3] for kind, pages in groupby(generated(), lambda page: page.kind)}


def extract(body: str) -> Extract:
    return worker.read(WebDocument(f"<html><body>{body}</body></html>".encode(), "https://x.test/a/b"))


def article(inside: str) -> str:
    """The Markdown between two paragraphs of an article."""
    text = extract(f"<article><p>{PROSE} {PROSE}</p>{inside}<p>{PROSE} {PROSE}</p></article>").text
    return text.removeprefix(f"{PROSE} {PROSE}").removesuffix(f"{PROSE} {PROSE}").strip("\n")


@pytest.mark.parametrize("kind", PAGES)
def test_content_is_kept_and_boilerplate_left_out(kind: str) -> None:
    def problems(page: SavedPage) -> dict[str, list[int]]:
        found = asdict(score(page, worker.read(WebDocument(page.html, page.url)).text))
        unwanted = ("boilerplate", "hidden")
        return {part: pair for part, pair in found.items() if pair[0] != (0 if part in unwanted else pair[1])}

    assert {page.name: problems(page) for page in PAGES[kind]} == {page.name: {} for page in PAGES[kind]}


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<h2>Title <a class='headerlink' href='#t'>¶</a></h2>", "## Title"),
        ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
        ("<pre class='brush: js'>x()</pre>", "```js\nx()\n```"),
        ("<div class='highlight-source-sql'><pre>SELECT 1</pre></div>", "```sql\nSELECT 1\n```"),
        ("<pre>```\nfence\n```</pre>", "````\n```\nfence\n```\n````"),
        ("<pre><span>a</span><br><span>b</span></pre>", "```\na\nb\n```"),
        ("<dl><dt>Term</dt><dd>Its meaning</dd></dl>", "**Term**\n\nIts meaning"),
        ("<ul><li>one<ul><li>two</li></ul></li></ul>", "- one\n  - two"),
        ("<p>See <a href='../c?d=1#e'>there</a>.</p>", "See [there][1]."),
        ("<p>See <a href='#top'>above</a> and <a href='mailto:a@b.c'>mail</a>.</p>", "See above and mail."),
        ("<p>Use <code>x = 1</code> and <b>bold</b>.</p>", "Use `x = 1` and **bold**."),
        ("<details><summary>More</summary><p>Inside</p></details>", "**More**\n\nInside"),
        (
            "<table><tr><th>a</th><th>b</th></tr><tr><td>1|2</td><td>3</td></tr></table>",
            "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |",
        ),
        ("<p>1 <math alttext='a^2'><mi>a</mi><mn>2</mn></math></p>", "1 a^2"),
        ("<aside class='note'><p>Mind this step.</p></aside>", "Mind this step."),
        ("<aside><p>Buy now.</p></aside>", ""),
        ("<p>Share this article</p>", ""),
        ("<button>Copy</button>", ""),
    ],
)
def test_markup_becomes_exact_markdown(html: str, markdown: str) -> None:
    assert article(html) == markdown


def test_links_are_absolute_numbered_once_and_only_of_the_web() -> None:
    found = extract(
        f"<article><p>{PROSE * 2} <a href='/one'>first</a> <a href='two'>second</a> <a href='/one'>again</a>"
        "<a href='JaVaScRiPt:x'>bad</a><a href='https://u:p@e.test/'>login</a>"
        f"<a href='http://[x'>odd</a></p><p>{PROSE}</p></article>"
    )
    assert [(link["number"], link["text"], link["url"]) for link in found.links] == [
        (1, "first", "https://x.test/one"),
        (2, "second", "https://x.test/a/two"),
    ]
    assert "[first][1] [second][2] [again][1]badloginodd" in found.text


def test_links_are_relative_to_the_base_that_the_page_names() -> None:
    head = "<head><base target='_top'><base href='/docs/'><base href='/other/'></head>"
    html = f"<html>{head}<body><p>See <a href='start.html'>the start</a>.</p></body></html>"

    found = worker.read(WebDocument(html.encode(), "https://x.test/a/page", mode="full"))

    assert [link["url"] for link in found.links] == ["https://x.test/docs/start.html"]


def test_a_page_without_an_article_is_read_as_a_whole() -> None:
    links = "".join(f"<li><a href='/{n}'>Entry {n} of the index</a></li>" for n in range(30))
    found = extract(f"<h1>Index</h1><ul>{links}</ul>")
    assert [f"[Entry {n} of the index]" in found.text for n in range(30)] == [True] * 30


def test_a_title_beside_the_text_is_kept_and_the_name_of_the_site_is_not() -> None:
    text = f"<div id='content'><div class='sect'><p>{PROSE * 4}</p></div></div>"
    assert extract(f"<div id='top'><h1>git-log(1)</h1></div>{text}").text.startswith("# git-log(1)\n")
    assert not extract(f"<div><h1><a href='/'>My site</a></h1></div>{text}").text.startswith("# My site")


def test_parts_lose_nothing_and_keep_code_in_fences() -> None:
    code = "\n".join(f"line {n} of the code" for n in range(2000))
    text = f"# Title\n\n{PROSE}\n\n```python\n{code}\n```\n\n" + "\n\n".join(
        f"{n} {PROSE}" for n in range(300)
    )
    parts = split(text, 5000)
    assert max(map(len, parts)) < 5200
    assert all(part.count("```") % 2 == 0 for part in parts)
    assert all(f"line {n} of the code" in "".join(parts) for n in range(2000))
    assert all(f"\n{n} {PROSE}" in "\n".join(["", *parts]) for n in range(300))


def test_a_text_of_one_line_is_cut_between_words() -> None:
    parts = split("word " * 5000, 2000)
    assert max(map(len, parts)) <= 2000
    assert " ".join(parts).split() == ["word"] * 5000
