"""Answers in a real browser: colored code, tables, maths and headings, and what models could try."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.web.axe import look_over
from tests.web.browsing import NARROW, sign_in
from tests.web.chatting import ask, said
from tests.web.running import Crib
from tests.web.vendor import Say, Vendor

MATHML = "http://www.w3.org/1998/Math/MathML"
WIDE_TABLE = "\n".join(
    (
        "|" + "|".join(f" Column number {number} " for number in range(12)) + "|",
        "|" + "---|" * 12,
        "|" + "|".join(f" value {number} " for number in range(12)) + "|",
    )
)


@pytest.fixture
def chat(crib: Crib, model: Vendor, new_page: Callable[[], Page]) -> Page:
    """The page of a new chat."""
    return sign_in(new_page(), crib.sign_in_address(), "/chat/new")


def test_code_is_colored_by_its_language_and_copied_whole(model: Vendor, chat: Page) -> None:
    code = 'def add(a):  # one\n    return "<b>" + a\n'
    model.say(Say(f"```python\n{code}```\n\n```\nplain text\n```\n"))
    ask(chat, "Write code.")

    block = chat.locator(".code-block", has_text="python")
    expect(block.locator(".code-keyword").first).to_have_text("def")
    expect(block.locator(".code-comment")).to_have_text("# one")
    expect(block.locator("pre")).to_have_text(code.rstrip("\n"))
    expect(block.locator("b")).to_have_count(0)
    block.get_by_role("button", name="Copy").click()
    expect(block.get_by_text("Copied")).to_be_visible()
    assert chat.evaluate("navigator.clipboard.readText()") == code.rstrip("\n")
    expect(chat.locator(".code-block.without-language")).to_contain_text("plain text")
    expect(chat.locator(".without-language span[class^=code-]:not(.code-head *)")).to_have_count(0)


def test_maths_is_drawn_and_what_is_none_stays_text(model: Vendor, chat: Page) -> None:
    model.say(
        Say(r"It costs $5 and $6. With $x_1^2$ and \(y\):" + "\n\n$$\n\\frac{a}{b}\n$$\n\nbut $\\nothing{x}$")
    )
    ask(chat, "Write maths.")

    expect(chat.locator(".answer math")).to_have_count(3)
    expect(chat.locator(".answer math[display=block] mfrac")).to_have_count(1)
    expect(said(chat, "It costs $5 and $6.")).to_be_visible()
    expect(chat.locator(".maths-source")).to_have_text(r"$\nothing{x}$")


def test_no_formula_or_code_of_a_model_acts_leads_or_names(model: Vendor, chat: Page) -> None:
    formulas = (
        r"\href{javascript:alert(1)}{x}",
        r"\url{https://example.com}",
        r"\htmlId{root}{x}",
        r"\htmlClass{dialog}{x}",
        r"\htmlData{url=1}{x}",
        r"\htmlStyle{position:fixed}{x}",
        r"\includegraphics{https://example.com/x.png}",
        r"\text{<img src=x onerror=alert(1)>}",
        r"x\label{root}\tag{<script>alert(1)</script>}",
        r"\def\a{\a\a}\a",
        r"\rule{9999em}{9999em}",
        r"\color{red;background:url(https://example.com)}x",
        r"\class{overlay}{x}",
    )
    attacks = [f"$${formula}$$" for formula in formulas]
    attacks.append('```html\n<img src=x onerror="window.hit=1">\n<script>window.hit=1</script>\n```')
    attacks.append('```js" onmouseover="alert(1)\nx\n```')
    attacks.append("<img src=x onerror='window.hit=1'>\n\n[a](javascript:window.hit=1)")
    asked: list[str] = []
    chat.on("request", lambda request: asked.append(request.url))
    model.say(Say("\n\n".join([*attacks, "$z$ is the end."])))
    ask(chat, "Attack.")

    expect(said(chat, "is the end.")).to_be_visible()
    expect(chat.locator(".answer math", has_text="z").last).to_be_visible()
    expect(chat.locator(".code-block .code-entity, .code-block .code-string").first).to_be_visible()
    found = chat.evaluate(
        """() => [...document.querySelectorAll(".answer *")].flatMap((element) =>
          [...element.attributes]
            .filter(({name}) => /^on|^id$|^src$|^xlink|^name$/.test(name) ||
              (name === "href" && !element.matches(".answer a[target]")))
            .map(({name, value}) => `${element.tagName} ${name}=${value}`))"""
    )
    assert found == []
    assert chat.evaluate("window.hit") is None
    expect(chat.locator(".answer :is(img, script, iframe, style, link, a)")).to_have_count(0)
    expect(chat.locator(".answer .overlay, .answer .dialog")).to_have_count(0)
    heights = chat.locator(".answer math").evaluate_all("all => all.map((one) => one.clientHeight)")
    assert max(heights) < 2000
    assert [url for url in asked if "example.com" in url] == []


def test_a_wide_table_scrolls_inside_itself_and_headings_have_sizes(model: Vendor, chat: Page) -> None:
    model.say(Say(f"# One\n\n## Two\n\n### Three\n\n{WIDE_TABLE}\n\n```python\nx = {'1' * 300}\n```"))
    ask(chat, "Write a table.")
    table = chat.get_by_role("region", name="Table")
    expect(table).to_be_visible()
    expect(chat.locator(".code-block .code-entity, .code-block .code-class").first).to_be_visible()

    for width in (1440, NARROW["width"]):
        chat.set_viewport_size({"width": width, "height": 844})
        assert table.evaluate("one => one.scrollWidth > one.clientWidth")
        assert chat.evaluate("document.documentElement.scrollWidth") == width
        assert chat.locator(".scroller").evaluate("one => one.scrollWidth === one.clientWidth")
    sizes = [
        float(
            chat.locator(f".answer {tag}")
            .evaluate("one => getComputedStyle(one).fontSize")
            .removesuffix("px")
        )
        for tag in ("h1", "h2", "h3")
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[1] > sizes[2]


def test_colored_code_and_tables_can_be_read_by_everyone(model: Vendor, chat: Page) -> None:
    code = 'class A(B):  # comment\n    x: int = 1\n    def f(self): return f"{self.x}" + "text"'
    model.say(Say(f"# Title\n\n```python\n{code}\n```\n\n```diff\n-old\n+new\n```\n\n{WIDE_TABLE}\n\n$x^2$"))
    ask(chat, "Write.")
    expect(chat.locator(".code-comment")).to_be_visible()
    expect(chat.locator(".answer math")).to_be_visible()

    assert look_over(chat) == []


def test_code_keeps_its_place_while_it_is_streamed(model: Vendor, chat: Page) -> None:
    """The colored beginning is there before the end of the block has come."""
    lines = "\n".join(f"value_{number} = {number}  # number {number}" for number in range(40))
    model.pause, model.pause_after = threading.Event(), 20
    model.say(Say(f"```python\n{lines}\n```\n\nThat is all."))
    ask(chat, "Write much code.")

    expect(chat.locator(".code-block .code-comment").first).to_be_visible()
    expect(said(chat, "That is all.")).to_have_count(0)
    before = chat.locator(".code-block pre").evaluate("one => one.getBoundingClientRect().left")
    model.pause.set()
    expect(said(chat, "That is all.")).to_be_visible()
    expect(chat.locator(".code-block pre")).to_have_text(lines)
    assert chat.locator(".code-block pre").evaluate("one => one.getBoundingClientRect().left") == before
