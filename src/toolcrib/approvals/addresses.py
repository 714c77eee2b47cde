"""Finds out whether the arguments of a call name an address (a page, a host, an IP): parameter names that
mean one, such as `url` or `host`, and file endings that do not make a host name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from toolcrib.schema.tools import Tool

_FORMATS = frozenset(
    {"uri", "uri-reference", "iri", "iri-reference", "url", "hostname", "idn-hostname", "ipv4", "ipv6"}
)
_NAME_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ADDRESS_WORD = re.compile(
    r"\w*ur[il]s?|links?|href|hosts?|hostnames?|domains?|sites?|websites?|webpages?|endpoints?|webhooks?|callbacks?"
    r"|feeds?|proxy|ips?"
)
_LONGEST = 300
"""Longest text checked for a bare host; longer ones are only searched for `://`."""
_HOST = re.compile(r"(?:[\w\-]+\.)+([^\W\d_]{2,}|xn--[\w\-]+)\.?(:\d+|[/?#])?")
_NUMBERS = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])|\[[0-9a-f:.]+\]")
_FILE_ENDING = re.compile(
    r"avi|bak|bmp|c|cc|cfg|conf|cpp|cs|css|csv|db|doc|docx|eml|env|epub|gif|go|gz|h|hpp|htm|html|ico|ics|ini"
    r"|ipynb|java|jpeg|jpg|js|json|jsonl|jsx|kt|lock|log|m4a|md|mdx|mkv|mov|mp3|mp4|ods|odt|ogg|parquet|pdf|php"
    r"|png|ppt|pptx|py|pyi|rb|rs|rst|rtf|sh|sql|sqlite|svg|swift|tar|tex|tgz|tif|tiff|toml|ts|tsv|tsx|txt|vue"
    r"|wav|webm|webp|xls|xlsx|xml|yaml|yml|zip"
)
_DOTS = str.maketrans("\u3002\uff0e\uff61", "...")
_MOST_VALUES = 1000


def names_address(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Whether an argument is an address by its name, its format or its value."""
    return _is_declared(tool, arguments) or any(
        _is_address_name(name) or _is_address(value) for name, value in _texts(arguments)
    )


def _is_declared(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    properties = tool.definition.input_schema.get("properties")
    declared = properties if isinstance(properties, Mapping) else {}
    schemas = (declared.get(name) for name in arguments)
    return any(isinstance(schema, Mapping) and schema.get("format") in _FORMATS for schema in schemas)


def _is_address_name(name: str) -> bool:
    words = _NAME_WORDS.findall(name[:_LONGEST])
    return any(_ADDRESS_WORD.fullmatch(word.lower()) for word in words)


def _is_address(value: str) -> bool:
    if "://" in value or value.lstrip().startswith("//"):
        return True
    return any(_is_host(word) for word in value[:_LONGEST].split())


def _is_host(word: str) -> bool:
    plain = word if word.isascii() else unicodedata.normalize("NFKC", word.translate(_DOTS))
    if _NUMBERS.match(plain.lower()):
        return True
    found = _HOST.match(plain.lower())
    if found is None or (found.group(2) is None and found.end() != len(plain)):
        return False
    return found.group(2) is not None or not _FILE_ENDING.fullmatch(found.group(1))


def _texts(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every text with its argument's name; too many values count as an address."""
    left: list[tuple[str, Any]] = list(arguments.items())
    for seen in range(_MOST_VALUES + 1):
        if not left:
            return
        if seen == _MOST_VALUES:
            yield "url", ""
            return
        name, value = left.pop()
        if isinstance(value, str):
            yield str(name), value
        elif isinstance(value, Mapping):
            left.extend((str(key), inner) for key, inner in value.items())
        elif isinstance(value, list | tuple):
            left.extend((name, inner) for inner in value)
