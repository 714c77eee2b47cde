"""The page's files: kept for ever where their names are hashes, asked for each time where they are not."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from tests.conftest import Crib as Home
from tests.web.browsing import check_bundle
from toolcrib.web.serving import serve_page

Client = httpx2.AsyncClient


@asynccontextmanager
async def visiting(home: Home, static: Path) -> AsyncIterator[Client]:
    """A client of a host that serves this folder."""
    async with (
        home.open() as host,
        serve_page(host, port=0, static=static) as served,
        Client(base_url=served.base) as client,
    ):
        yield client


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A host in this process, whose page lies in a folder of the test's own."""
    return Home(tmp_path / "home")


def put_page(folder: Path) -> None:
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Placeholder</title>")
    (folder / "assets" / "index-abc123.js").write_text("1")
    (folder / "icon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")


async def test_only_hashed_files_are_kept_by_the_browser(home: Home, tmp_path: Path) -> None:
    static = tmp_path / "static"
    put_page(static)
    async with visiting(home, static) as client:
        page, asset, icon = [await client.get(path) for path in ("/", "/assets/index-abc123.js", "/icon.svg")]
        again = await client.get("/icon.svg", headers={"If-None-Match": icon.headers["etag"]})

    assert page.headers["cache-control"] == "no-store"
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "javascript" in asset.headers["content-type"]
    assert (icon.headers["cache-control"], again.status_code) == ("no-cache", 304)


async def test_a_file_that_was_compressed_is_sent_so_to_who_takes_it(home: Home, tmp_path: Path) -> None:
    static = tmp_path / "static"
    put_page(static)
    asset = "/assets/index-abc123.js"
    small = gzip.compress(b"1")
    (static / "assets" / "index-abc123.js.gz").write_bytes(small)
    (static / "index.html.gz").write_bytes(gzip.compress(b"<title>Compressed</title>"))
    async with visiting(home, static) as client:
        taken = await client.get(asset, headers={"Accept-Encoding": "deflate, gzip;q=0.5"})
        plain = [
            await client.get(asset, headers={"Accept-Encoding": given})
            for given in ("identity", "gzip;q=0", "br", "gzip;q=0.0")
        ]
        unchanged = await client.get(
            asset, headers={"Accept-Encoding": "gzip", "If-None-Match": taken.headers["etag"]}
        )
        page = await client.get("/servers", headers={"Accept-Encoding": "gzip"})

    assert (taken.headers["content-encoding"], taken.headers["content-length"]) == ("gzip", str(len(small)))
    assert (taken.text, "javascript" in taken.headers["content-type"]) == ("1", True)
    assert taken.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert {answer.headers["vary"] for answer in [taken, *plain]} == {"Accept-Encoding"}
    assert [("content-encoding" in answer.headers, answer.text) for answer in plain] == [(False, "1")] * 4
    assert {answer.headers["etag"] for answer in plain}.isdisjoint({taken.headers["etag"]})
    assert unchanged.status_code == 304
    assert (page.text, page.headers["cache-control"]) == ("<title>Compressed</title>", "no-store")
    assert page.headers["content-type"].startswith("text/html")


async def test_a_browser_that_takes_brotli_gets_the_smaller_copy(home: Home, tmp_path: Path) -> None:
    static = tmp_path / "static"
    put_page(static)
    asset = "/assets/index-abc123.js"
    (static / "assets" / "index-abc123.js.br").write_bytes(b"brotli")
    (static / "assets" / "index-abc123.js.gz").write_bytes(b"gzip")
    async with visiting(home, static) as client:
        answers = {}
        for given in ("gzip, deflate, br, zstd", "gzip, br;q=0"):
            async with client.stream("GET", asset, headers={"Accept-Encoding": given}) as answer:
                answers[given] = (
                    answer.headers["content-encoding"],
                    [part async for part in answer.aiter_raw()],
                )

    assert answers == {
        "gzip, deflate, br, zstd": ("br", [b"brotli"]),
        "gzip, br;q=0": ("gzip", [b"gzip"]),
    }


async def test_the_page_names_the_files_of_its_route(home: Home, tmp_path: Path) -> None:
    static = tmp_path / "static"
    put_page(static)
    routes = {
        "servers": ["theme.js", "assets/list-1.js"],
        "servers/": ["assets/one-1.css"],
        "chat": ["assets/chat-1.js"],
    }
    (static / "routes.json").write_text(json.dumps(routes))
    async with visiting(home, static) as client:
        paths = ("/servers", "/servers/demo", "/chat/1?question=2", "/", "/nowhere/x")
        links = [(await client.get(path)).headers["link"] for path in paths]
        asset = await client.get("/assets/index-abc123.js")

    assert links == [
        "</theme.js>; rel=preload; as=script, </assets/list-1.js>; rel=modulepreload; crossorigin",
        "</assets/one-1.css>; rel=preload; as=style; crossorigin",
        "</assets/chat-1.js>; rel=modulepreload; crossorigin",
        "",
        "",
    ]
    assert "link" not in asset.headers


async def test_a_place_in_the_page_gets_the_page_and_a_missing_file_does_not(
    home: Home, tmp_path: Path
) -> None:
    static = tmp_path / "static"
    put_page(static)
    async with visiting(home, static) as client:
        places = [await client.get(path) for path in ("/servers", "/servers/demo", "/chat/1?question=2")]
        files = [await client.get(path) for path in ("/assets/gone-1.js", "/missing.css", "/favicon.ico")]
        posted = await client.post("/servers")

    assert {answer.text for answer in places} == {"<!doctype html><title>Placeholder</title>"}
    assert {answer.status_code for answer in files} == {404}
    assert posted.status_code == 405


async def test_a_page_that_was_not_built_says_so(home: Home, tmp_path: Path) -> None:
    async with visiting(home, tmp_path / "nothing") as client:
        page = await client.get("/")
        place = await client.get("/servers")
        health = await client.get("/healthz")

    assert page.status_code == 503
    assert "make setup" in page.text
    assert "text/html" in page.headers["content-type"]
    assert place.status_code == 404
    assert health.status_code == 200


async def test_a_page_that_is_built_meanwhile_is_served(home: Home, tmp_path: Path) -> None:
    static = tmp_path / "static"
    async with visiting(home, static) as client:
        assert (await client.get("/")).status_code == 503
        put_page(static)
        assert (await client.get("/")).status_code == 200
        shutil.rmtree(static)
        assert (await client.get("/")).status_code == 503


async def test_a_link_out_of_the_folder_is_not_followed(home: Home, tmp_path: Path) -> None:
    static, secret = tmp_path / "static", tmp_path / "secret.txt"
    put_page(static)
    secret.write_text("secret")
    (static / "assets" / "link.txt").symlink_to(secret)
    async with visiting(home, static) as client:
        answer = await client.get("/assets/link.txt")

    assert answer.status_code == 404


def test_the_page_that_we_ship_is_small_and_names_nobody_else() -> None:
    check_bundle()
    from tests.web.browsing import STATIC

    index = (STATIC / "index.html").read_text()
    files = [file for file in STATIC.rglob("*") if file.is_file()]

    assert not [file for file in files if file.suffix == ".map"]
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>", index)
    assert "http://" not in index
    assert "https://" not in index
