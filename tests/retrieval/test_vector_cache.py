"""Vectors are kept by their text and model, and a broken file costs nothing but time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from toolcrib.retrieval.embedder import Embedded
from toolcrib.retrieval.vector_cache import VectorCache, key_of


def embedded(seed: int, *, tokens: bool = True) -> Embedded:
    chance = np.random.default_rng(seed)
    vector = chance.normal(size=8).astype(np.float32)
    short = chance.integers(-127, 127, (seed % 4 + 1, 4)).astype(np.int8)
    return Embedded(vector / np.linalg.norm(vector), short if tokens else None)


def same(one: Embedded | None, other: Embedded) -> bool:
    if one is None or (one.tokens is None) != (other.tokens is None):
        return False
    alike = one.tokens is None or other.tokens is None or np.array_equal(one.tokens, other.tokens)
    return alike and bool(np.allclose(one.vector, other.vector, atol=1e-3))


def test_what_was_written_is_there_for_the_next_program(tmp_path: Path) -> None:
    made = {key_of(f"text {n}"): embedded(n, tokens=n % 3 > 0) for n in range(10)}
    first = VectorCache(tmp_path, "model")
    first.put(made)
    first.flush()

    second = VectorCache(tmp_path, "model")

    assert all(same(second.get(key), one) for key, one in made.items())
    assert second.get(key_of("another")) is None


def test_vectors_of_another_model_are_not_mixed_in(tmp_path: Path) -> None:
    first = VectorCache(tmp_path, "model")
    first.put({key_of("text"): embedded(1)})
    first.flush()

    assert VectorCache(tmp_path, "other").get(key_of("text")) is None


def test_many_small_files_become_few(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, "model")
    for n in range(30):
        cache.put({key_of(f"text {n}"): embedded(n)})
        cache.flush()

    assert len(list(tmp_path.rglob("*.vectors"))) <= 9
    again = VectorCache(tmp_path, "model")
    assert all(same(again.get(key_of(f"text {n}")), embedded(n)) for n in range(30))


def test_two_writers_do_not_harm_each_other(tmp_path: Path) -> None:
    one, other = VectorCache(tmp_path, "model"), VectorCache(tmp_path, "model")
    one.put({key_of("a"): embedded(1)})
    other.put({key_of("b"): embedded(2)})
    one.flush()
    other.flush()

    after = VectorCache(tmp_path, "model")
    assert same(after.get(key_of("a")), embedded(1))
    assert same(after.get(key_of("b")), embedded(2))


def test_a_broken_file_is_left_out(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, "model")
    cache.put({key_of("a"): embedded(1)})
    cache.flush()
    (whole,) = tmp_path.rglob("*.vectors")
    (whole.parent / "cut.vectors").write_bytes(whole.read_bytes()[:-3])
    (whole.parent / "empty.vectors").write_bytes(b"")
    (whole.parent / "other.vectors").write_bytes(b"something else entirely, long enough to have a header" * 9)

    assert same(VectorCache(tmp_path, "model").get(key_of("a")), embedded(1))


def test_without_a_folder_nothing_is_written(tmp_path: Path) -> None:
    cache = VectorCache(None, "model")
    cache.put({key_of("a"): embedded(1)})
    cache.flush()

    assert same(cache.get(key_of("a")), embedded(1))
    assert list(tmp_path.iterdir()) == []
