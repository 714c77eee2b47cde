"""Every embedder of the folder keeps the contract."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from toolcrib.errors import NotFound
from toolcrib.plugins import names
from toolcrib.retrieval.embedder import FOLDER, EmbedderChoice, EmbedderUnavailable, open_embedder


class Service(BaseHTTPRequestHandler):
    """Both kinds of embedding service: a vector for each text, by the letters in it."""

    answer: Any = None
    """Said instead of vectors."""
    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(length))
        type(self).asked.append({"path": self.path, "key": self.headers.get("Authorization"), **body})
        vectors = [[text.count(letter) + 0.5 for letter in "aeiou"] for text in body["input"]]
        told: Any = {"embeddings": vectors}
        if self.path.endswith("/embeddings"):
            rows = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
            told = {"data": rows[::-1]}
        if type(self).answer is not None:
            told = type(self).answer
        data = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.send_response(200 if b"broken" not in data else 500)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def service() -> Iterator[ThreadingHTTPServer]:
    Service.answer, Service.asked = None, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def chosen(kind: str, service: ThreadingHTTPServer) -> EmbedderChoice:
    return EmbedderChoice(kind, "some-model", f"http://127.0.0.1:{service.server_address[1]}", "sesame")


@pytest.mark.parametrize("kind", names(FOLDER))
def test_texts_and_questions_become_unit_vectors_of_one_length(
    kind: str, service: ThreadingHTTPServer
) -> None:
    embedder = open_embedder(chosen(kind, service))
    if embedder is None:
        assert kind == "none"
        return
    question = "read a file, then send it"

    told = embedder.embed(["read a file", "", "send a mail"])
    whole, clause = embedder.read(question, [(0, 11)])

    assert embedder.id.startswith(kind)
    assert len(told) == 3
    for one in (*told, whole, clause):
        assert len(one.vector) == embedder.dimension
        assert float(one.vector @ one.vector) == pytest.approx(1.0, abs=1e-3)
    assert all((one.tokens is None) == (embedder.token_width == 0) for one in told)
    assert clause.vector @ told[0].vector > clause.vector @ told[2].vector


@pytest.mark.parametrize("kind", ["ollama", "openai"])
@pytest.mark.parametrize(
    "answer",
    [
        b"broken",
        b"not json",
        {},
        [],
        {"embeddings": [[1.0]], "data": [{"embedding": [1.0]}]},
        {"embeddings": [["x"], [1]], "data": [{"embedding": None}, {"embedding": [1]}]},
    ],
)
def test_a_strange_answer_is_a_failure_that_says_where(
    kind: str, answer: Any, service: ThreadingHTTPServer
) -> None:
    Service.answer = answer
    embedder = open_embedder(chosen(kind, service))
    assert embedder is not None

    with pytest.raises(EmbedderUnavailable, match=r"127\.0\.0\.1"):
        embedder.embed(["one", "two"])


@pytest.mark.parametrize("kind", ["ollama", "openai"])
def test_nobody_at_the_address_is_a_failure(kind: str) -> None:
    embedder = open_embedder(EmbedderChoice(kind, "m", "http://127.0.0.1:9"))
    assert embedder is not None

    with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
        embedder.read("question", [])


def test_the_key_and_the_prefixes_that_a_model_wants_are_sent(service: ThreadingHTTPServer) -> None:
    url = f"http://127.0.0.1:{service.server_address[1]}"
    for kind in ("openai", "ollama"):
        embedder = open_embedder(EmbedderChoice(kind, "nomic-embed-text", url, "sesame"))
        assert embedder is not None
        embedder.embed(["tool"])
        embedder.read("ask", [])

    of_openai, _, told, asked = Service.asked
    assert of_openai["key"] == "Bearer sesame"
    assert told["input"] == ["search_document: tool"]
    assert asked["input"] == ["search_query: ask"]


def test_an_unknown_embedder_is_named_with_those_there_are() -> None:
    with pytest.raises(NotFound) as caught:
        open_embedder(EmbedderChoice("nonsense"))

    assert "builtin" in caught.value.hint
