"""HTML of others becomes plain text, and what a browser would not show is left out."""

from __future__ import annotations

import pytest

from toolcrib.serverkit.html_text import html_to_text


@pytest.mark.parametrize(
    "hidden",
    [
        "<div hidden>SECRET</div>",
        '<p style="display: none">SECRET</p>',
        '<span style="visibility:hidden"><b>SECRET</b></span>',
        '<span style="font-size:0px">SECRET</span>',
        '<span style="opacity:0">SECRET</span>',
        '<span style="color:#fff">SECRET</span>',
        '<div style="background:#000"><span style="color:black">SECRET</span></div>',
        '<span style="position:absolute;left:-9999px">SECRET</span>',
        "<!-- SECRET -->",
        "<script>SECRET</script>",
        "<style>SECRET</style>",
        "<template>SECRET</template>",
    ],
)
def test_hidden_text_is_left_out(hidden: str) -> None:
    assert html_to_text(f"<p>Before</p>{hidden}<p>After</p>") == "Before\n\nAfter"


def test_structure_stays_readable() -> None:
    html = (
        "<h2>Plan</h2><ul><li>One<li>Two</ul><table><tr><td>a<td>b<tr><td>c<td>d</table>"
        '<pre>x\n  y</pre><a href="https://x.example">link</a><br>end &amp; done'
    )

    text = html_to_text(html)

    assert text.startswith("Plan\n\n- One\n- Two\n\na | b\nc | d")
    assert "link (https://x.example)" in text
    assert text.endswith("end & done")


def test_characters_that_hide_or_reorder_text_are_removed() -> None:
    assert html_to_text("<p>a&#8203;b&#8238;c&#0;</p>").replace("\N{REPLACEMENT CHARACTER}", "") == "abc"


@pytest.mark.parametrize("html", ["<div>" * 20_000 + "x", "<" * 20_000, "<p title='" + "x" * 20_000, "<![x"])
def test_malformed_html_ends_quickly(html: str) -> None:
    assert len(html_to_text(html)) <= len(html)


def test_hidden_text_is_left_out_at_any_depth() -> None:
    html = "<div>" * 2000 + '<div style="display:none">SECRET</div>shown'

    assert html_to_text(html) == "shown"


def test_a_comment_in_a_style_does_not_show_hidden_text() -> None:
    assert html_to_text('<p>Before</p><span style="display:/**/none">SECRET</span>') == "Before"


@pytest.mark.parametrize(
    "html",
    [
        "x" * 1_000_000 + "<b></b>" * 10_000,
        "<a href='" * 100_000,
        "<!--" * 100_000,
        "<div>" * 20_000 + "</p>" * 20_000,
        '<a href="https://x.example">' * 20_000 + "y" * 20_000 + "</a>" * 20_000,
    ],
    ids=["long text", "open tags", "open comments", "deep", "links in links"],
)
def test_the_work_grows_with_the_length_only(html: str) -> None:
    """Each of these takes minutes or hours if the work grows with the square of the length."""
    html_to_text(html)
