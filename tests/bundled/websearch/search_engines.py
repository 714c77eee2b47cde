"""Imitations of the engines' protocols: SearXNG's JSON API, Brave, Tavily and DuckDuckGo's HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

from tests.bundled.websearch.website import Answer, Asked

Result = tuple[str, str, str]
"""Title, address, snippet."""
RESULTS: Sequence[Result] = (
    ("Bridges of the world", "https://bridges.example/world", "A list of <b>bridges</b> &amp; tunnels."),
    ("Bridge closed", "https://news.example/bridge", "The old bridge was closed."),
    ("Bridge closed", "https://news.example/bridge", "The same page again."),
    ("Docs", "https://docs.python.org/3/bridge", "About bridges in Python."),
)


def fields(asked: Asked) -> dict[str, str]:
    """The fields of a query string or a form."""
    given = asked.body.decode() if asked.method == "POST" else urlsplit(asked.path).query
    return {name: values[0] for name, values in parse_qs(given).items()}


def searxng(asked: Asked, results: Sequence[Result] = RESULTS) -> Answer:
    """`/search?format=json`, as of SearXNG 2026; other formats are HTML."""
    given = fields(asked)
    if given.get("format") != "json":
        return Answer("<html><body>results</body></html>")
    found = [
        {
            "title": title,
            "url": url,
            "content": text,
            "engine": "bing",
            "publishedDate": "2026-11-01T00:00:00",
        }
        for title, url, text in results
    ]
    answer = {"query": given["q"], "number_of_results": 0, "results": found, "unresponsive_engines": []}
    return Answer(json.dumps(answer), "application/json")


def brave(asked: Asked, results: Sequence[Result] = RESULTS) -> Answer:
    """`/res/v1/web/search`; refuses a wrong key as the real one does."""
    if asked.headers.get("X-Subscription-Token") != "brave-key":
        error = {"type": "ErrorResponse", "error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "status": 422}}
        return Answer(json.dumps(error), "application/json", status=401)
    found = [
        {"title": title, "url": url, "description": text, "age": "2 days ago"} for title, url, text in results
    ]
    return Answer(json.dumps({"type": "search", "web": {"results": found}}), "application/json")


def tavily(asked: Asked, results: Sequence[Result] = RESULTS) -> Answer:
    """`POST /search` with a bearer token."""
    if asked.headers.get("Authorization") != "Bearer tavily-key":
        return Answer(json.dumps({"detail": {"error": "Unauthorized"}}), "application/json", status=401)
    asked_for = json.loads(asked.body)
    found = [{"title": title, "url": url, "content": text, "score": 0.9} for title, url, text in results]
    answer = {"query": asked_for["query"], "results": found[: asked_for["max_results"]]}
    return Answer(json.dumps(answer), "application/json")


def duckduckgo(asked: Asked, results: Sequence[Result] = RESULTS) -> Answer:
    """`/html/`: a form in, a page of results out."""
    found = "".join(
        f'<div class="result results_links"><div class="links_main links_deep result__body">'
        f'<h2 class="result__title"><a class="result__a" href="{url}">{title}</a></h2>'
        f'<a class="result__snippet" href="{url}">{text}</a></div></div>'
        for title, url, text in results
    )
    return Answer(f"<html><body><div id='links' class='results'>{found}</div></body></html>")
