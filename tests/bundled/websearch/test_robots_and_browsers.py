"""Which pages are read: robots.txt, pages that refuse programs, and pages that need a browser."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.bundled.websearch import search_engines as imitations
from tests.bundled.websearch.website import Answer, Asked, Website
from toolcrib.bundled.websearch import reading

PROSE = "The old bridge was closed on Monday after an inspection found cracks in two of its piers. "
ROBOTS = "User-agent: *\nDisallow: /private/\nAllow: /private/open$\nDisallow: /*.cgi\n"
NEEDS_CHROMIUM = pytest.mark.usefixtures("_chromium")


@pytest.fixture
def _chromium() -> None:
    assert reading.has_browser(), "This test needs Playwright and Chromium: run `make needs`."


def page(title: str, *links: str) -> str:
    found = "".join(f"<p>{PROSE}<a href='{link}'>more of it</a></p>" for link in links)
    return f"<html><body><article><h1>{title}</h1><p>{PROSE * 3}</p>{found}</article></body></html>"


async def test_robots_txt_is_respected_for_links_and_not_for_pages_that_the_user_named(
    web: Any, website: Website
) -> None:
    website.put("/robots.txt", Answer(ROBOTS, "text/plain"))
    for path in ("/private/a", "/private/open", "/private/b", "/x.cgi"):
        website.put(path, page(path))
    links = ("/private/a", "/private/open", "/x.cgi")
    start = await web.read(website.put("/start", page("Start", *links)))
    assert "/robots.txt" not in website.paths()

    assert "robots.txt of 127.0.0.1" in await web.refused("read_website", url=start["links"][0]["url"])
    assert "robots.txt" in await web.refused("read_website", url=f"{website.url}/x.cgi#top")
    assert "/private/open" in (await web.read(f"{website.url}/private/open"))["text"]
    assert "/private/b" in (await web.read(f"{website.url}/private/b"))["text"]
    assert website.paths().count("/robots.txt") == 1


async def test_robots_txt_is_respected_for_the_target_of_a_redirect_and_any_spelling_of_a_link(
    web: Any, website: Website
) -> None:
    website.put("/robots.txt", Answer(ROBOTS, "text/plain"))
    website.put("/private/a", page("Private"))
    website.put("/go", Answer("", status=302, headers={"Location": "/private/a"}))
    await web.read(website.put("/start", page("Start", "/go", "/private/a")))

    assert "robots.txt" in await web.refused("read_website", url=f"{website.url}/go")
    other = website.url.replace("http:", "HTTP:")
    assert "robots.txt" in await web.refused("read_website", url=f"{other}/private/a")


async def test_robots_txt_is_respected_for_search_results(open_web: Any, website: Website) -> None:
    website.put("/robots.txt", Answer("User-agent: toolcrib\nDisallow: /\n", "text/plain"))
    url = website.put("/found", page("Found"))
    website.put("/search", lambda asked: imitations.searxng(asked, [("Found", url, "x")]))
    async with open_web("--searxng", website.url) as web:
        await web.search("found")
        assert "asks programs not to read" in await web.refused("read_website", url=url)


@pytest.mark.parametrize(
    ("arguments", "status", "allowed"),
    [
        (["--robots", "always"], 200, False),
        (["--no-robots"], 200, True),
        (["--robots", "always"], 404, True),
        (["--robots", "always"], 503, False),
    ],
)
async def test_the_user_decides_about_robots_txt(
    open_web: Any, website: Website, arguments: list[str], status: int, allowed: bool
) -> None:
    website.put("/robots.txt", Answer("User-agent: *\nDisallow: /", "text/plain", status=status))
    url = website.put("/page", page("Page"))
    async with open_web(*arguments) as web:
        result = await web.call("read_website", url=url)
    assert result["isError"] is not allowed


def refusing_programs(asked: Asked) -> Answer:
    agent = asked.headers.get("User-Agent", "")
    like_a_browser = "Chrome/" in agent or "Firefox/" in agent
    return Answer(page("Welcome")) if like_a_browser else Answer("no robots", status=403)


async def test_stealth_reads_a_page_that_refuses_programs(open_web: Any, website: Website) -> None:
    url = website.put("/guarded", refusing_programs)
    async with open_web() as web:
        assert "--stealth" in await web.refused("read_website", url=url)
    async with open_web("--stealth") as web:
        assert "# Welcome" in (await web.read(url))["text"]
    sent = website.asked[-1].headers
    assert sent["Sec-Fetch-Mode"] == "navigate"
    assert "toolcrib" not in json.dumps(dict(sent))


APP = """<html><head><title>App</title></head><body><noscript>Enable JavaScript.</noscript>
<div id="root"></div><script src="/app.js"></script></body></html>"""
SCRIPT = f"""
const box = document.getElementById("root");
fetch("/data.json").then(r => r.json()).then(data => {{
  const next = "<a href='/next'>the next page of it</a>";
  box.innerHTML = "<main><h1>" + data.title + "</h1><p>{PROSE * 4}</p>" + next + "</main>";
}});
for (const url of ["http://127.0.0.1:9/steal", "http://169.254.169.254/latest/meta-data/"]) {{
  fetch(url).then(r => {{ document.title = "reached"; }}).catch(() => {{}});
  new Image().src = url;
}}
try {{ new WebSocket("ws://127.0.0.1:9/"); }} catch (error) {{}}
"""


def put_app(website: Website) -> str:
    website.put("/app.js", Answer(SCRIPT, "text/javascript"))
    website.put("/data.json", Answer('{"title": "Made by a script"}', "application/json"))
    return website.put("/app", APP)


async def test_a_page_made_by_scripts_is_recognised(
    web: Any, website: Website, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "has_browser", lambda: False)
    found = await web.read(put_app(website))
    assert "It needs a browser" in found["note"]
    assert found["title"] == "App"


@NEEDS_CHROMIUM
async def test_a_page_made_by_scripts_is_rendered_and_reaches_nothing_but_the_web(
    web: Any, website: Website
) -> None:
    found = await web.read(put_app(website))
    assert found["note"] == "Rendered in a browser."
    assert found["title"] == "App"
    assert "# Made by a script" in found["text"]
    assert found["links"] == [{"number": 1, "text": "the next page of it", "url": f"{website.url}/next"}]
    assert set(website.paths()) == {"/app", "/app.js", "/data.json"}


@pytest.mark.parametrize(
    "body",
    [
        "<div id=viewport-7></div><script>draw()</script>",
        "<p>Loading</p><div id=stage></div><script>draw()</script><script>more()</script>",
        "<custom-app></custom-app><script src=/app.js></script>",
    ],
)
async def test_a_page_without_text_and_with_any_script_is_recognised(
    web: Any, website: Website, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    monkeypatch.setattr(reading, "has_browser", lambda: False)
    found = await web.read(website.put("/drawn", f"<html><body>{body}</body></html>"))
    assert "It needs a browser" in found["note"]


async def test_a_short_page_without_scripts_needs_no_browser(web: Any, website: Website) -> None:
    found = await web.read(website.put("/short", "<html><body><h1>Hi</h1><p>Short.</p></body></html>"))
    assert (found["text"], found["note"]) == ("# Hi\n\nShort.", "")


CHALLENGE = """<html><body><p>Checking your browser</p><script>
fetch("/real").then(r => r.text()).then(text => { document.body.innerHTML = text; });
</script></body></html>"""


@NEEDS_CHROMIUM
async def test_stealth_renders_a_page_that_refuses_until_a_script_has_run(
    open_web: Any, website: Website
) -> None:
    website.put("/real", page("Behind the challenge"))
    url = website.put("/guarded", Answer(CHALLENGE, status=403))
    async with open_web("--stealth") as web:
        found = await web.read(url)
    assert found["text"].startswith("# Behind the challenge")
    assert found["note"] == "Rendered in a browser."
