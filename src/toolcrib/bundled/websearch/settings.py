"""The settings of the server: arguments of its entry (`--engines`, `--searxng`, `--robots`, `--stealth`,
`--allow-private`), keys from the environment, and the largest page to download."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from toolcrib import plugins
from toolcrib.errors import NetworkRefused, UsageError
from toolcrib.serverkit import network
from toolcrib.serverkit.network import NetworkPolicy
from toolcrib.serverkit.stdio import ServerArguments
from toolcrib.suggestions import did_you_mean

ENGINES = "toolcrib.bundled.websearch.engines"
USAGE = """
usage: python -m toolcrib.bundled.websearch [--searxng URL] [--engines NAME,NAME] [--stealth]
           [--allow-private HOST:PORT]... [--robots auto|always|never] [--max-bytes NUMBER]

An MCP server on stdin and stdout that searches the web and reads pages.

  --searxng URL              search with this SearXNG instance first
  --engines NAME,NAME        use these search engines in this order; known are searxng, brave, tavily,
                             duckduckgo and mojeek
  --allow-private HOST:PORT  allow pages of this private address; can be repeated
  --stealth                  send the headers of a browser, and render pages that refuse simple clients
  --robots auto|always|never respect robots.txt: for pages found in results and links (auto), always or never
  --no-robots                the same as --robots never
  --max-bytes NUMBER         largest page or document to download (default 10000000)
  --brave-key-env NAME       environment variable with the API key of Brave Search (default BRAVE_API_KEY)
  --tavily-key-env NAME      environment variable with the API key of Tavily (default TAVILY_API_KEY)
  --brave-url URL            another address of the Brave Search API, such as a proxy
  --tavily-url URL           another address of the Tavily API
"""
Robots = Literal["auto", "always", "never"]
_SMALLEST = 10_000
_LARGEST = 200_000_000


@dataclass(frozen=True)
class WebSettings:
    """What the user chose."""

    searxng: str = ""
    engines: tuple[str, ...] = ()
    """In this order; empty for all that are configured."""
    allow_private: frozenset[str] = frozenset()
    stealth: bool = False
    robots: Robots = "auto"
    max_bytes: int = 10_000_000
    brave_url: str = "https://api.search.brave.com"
    tavily_url: str = "https://api.tavily.com"
    brave_key: str = field(default="", repr=False)
    tavily_key: str = field(default="", repr=False)

    @cached_property
    def policy(self) -> NetworkPolicy:
        """For pages: public addresses, and the exceptions that the user named."""
        return NetworkPolicy(allow_private=self.allow_private)

    def policy_for(self, url: str) -> NetworkPolicy:
        """For an address that the user named in the settings, which may be private."""
        return NetworkPolicy(allow_private=frozenset((network.endpoint_of(url),)))


_HINT = "Run python -m toolcrib.bundled.websearch --help for all arguments."


def read_settings(arguments: Sequence[str]) -> WebSettings:
    """Read the arguments; raises `UsageError`."""
    parser = ServerArguments("websearch", _HINT)
    parser.add_argument("--searxng", default="")
    parser.add_argument("--engines", default="")
    parser.add_argument("--allow-private", action="append", default=[])
    parser.add_argument("--stealth", action="store_true")
    parser.add_argument("--robots", choices=("auto", "always", "never"), default="auto")
    parser.add_argument("--no-robots", action="store_const", const="never", dest="robots")
    parser.add_argument("--max-bytes", type=int, default=WebSettings.max_bytes)
    parser.add_argument("--brave-key-env", default="BRAVE_API_KEY")
    parser.add_argument("--tavily-key-env", default="TAVILY_API_KEY")
    parser.add_argument("--brave-url", default=WebSettings.brave_url)
    parser.add_argument("--tavily-url", default=WebSettings.tavily_url)
    given = parser.parse_args(arguments)
    if not _SMALLEST <= given.max_bytes <= _LARGEST:
        raise UsageError(f"--max-bytes must be from {_SMALLEST} to {_LARGEST}.", hint=_HINT)
    settings = WebSettings(
        searxng=_address("--searxng", given.searxng),
        engines=_engine_names(given.engines),
        allow_private=frozenset(given.allow_private),
        stealth=given.stealth,
        robots=given.robots,
        max_bytes=given.max_bytes,
        brave_url=_address("--brave-url", given.brave_url),
        tavily_url=_address("--tavily-url", given.tavily_url),
        brave_key=os.environ.get(given.brave_key_env, "").strip(),
        tavily_key=os.environ.get(given.tavily_key_env, "").strip(),
    )
    _ = settings.policy  # raises for an exception that is not HOST:PORT
    return settings


def _address(name: str, url: str) -> str:
    if url in ("", WebSettings.brave_url, WebSettings.tavily_url):
        return url  # nothing to check, and the check loads the HTTP client
    try:
        network.endpoint_of(url)
    except NetworkRefused as error:
        raise UsageError(f"{name}: {error.message}", hint=error.hint) from None
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"{name} needs an http or https URL.", hint=_HINT)
    return url.rstrip("/")


def _engine_names(given: str) -> tuple[str, ...]:
    names = tuple(name.strip().lower() for name in given.split(",") if name.strip())
    known = plugins.names(ENGINES)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, list(known)) or f"Known: {', '.join(known)}."
            raise UsageError(f"There is no search engine {name!r}.", hint=hint)
    return names
