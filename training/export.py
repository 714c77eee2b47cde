"""Writes the trained network as the run-time file: ONNX with weights of 8 bits.

Products of matrices are computed in 8 bits too (`accuracy_level` 4): a question costs 6 ms instead of 35.
Outputs: `embedding` (one unit vector a text), `tokens` (a short unit vector a token, 0 for padding),
`importance` (of each token) and `states` (of each token, from which the vector of a clause is made).
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, matmul_nbits_quantizer, quantize_dynamic

WIDTH, HEADS, LAYERS = 384, 12, 6
PLACES = 128
"""Of the 512 that a text could have: no text is longer."""
BLOCK = 64
"""Weights that share a scale."""


class _Graph:
    def __init__(self, weights: Mapping[str, np.ndarray]) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def constant(self, name: str, value: Any) -> str:
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def add(self, kind: str, inputs: list[str], output: str, **options: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=f"{output}_node", **options))
        return output

    def linear(self, x: str, name: str, output: str) -> str:
        weight = self.constant(f"{name}.weight", self.weights[f"{name}.weight"].T)
        product = self.add("MatMul", [x, weight], f"{output}_product")
        return self.add("Add", [product, self.constant(f"{name}.bias", self.weights[f"{name}.bias"])], output)

    def norm(self, x: str, name: str, output: str) -> str:
        parts = [
            self.constant(f"{name}.{part}", self.weights[f"{name}.{part}"]) for part in ("weight", "bias")
        ]
        return self.add("LayerNormalization", [x, *parts], output, axis=-1, epsilon=1e-12)


def export(weights: Mapping[str, np.ndarray], folder: Path) -> None:
    """Write `model.onnx` into a folder."""
    logging.disable(logging.WARNING)
    folder.mkdir(parents=True, exist_ok=True)
    quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(
        _model(weights),
        bits=8,
        block_size=BLOCK,
        is_symmetric=True,
        accuracy_level=4,
        op_types_to_quantize=("MatMul",),
        nodes_to_exclude=["short_product_node", "importance_product_node"],
    )
    quantizer.process()
    with tempfile.TemporaryDirectory() as scratch:
        half_done = Path(scratch, "matrices.onnx")
        onnx.save(quantizer.model.model, half_done)
        quantize_dynamic(
            half_done, folder / "model.onnx", weight_type=QuantType.QInt8, op_types_to_quantize=["Gather"]
        )


def _model(weights: Mapping[str, np.ndarray]) -> Any:
    graph = _Graph(weights)
    x = _embedded(graph)
    for number in range(LAYERS):
        x = _layer(graph, x, number)
    outputs = _outputs(graph, x)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    made = helper.make_graph(graph.nodes, "toolcrib", inputs, outputs, list(graph.constants.values()))
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model


def _embedded(graph: _Graph) -> str:
    graph.constant("one", np.array(1, np.int64))
    graph.constant("zero", np.array(0, np.int64))
    graph.add("CumSum", ["attention_mask", "one"], "counted")
    graph.add("Max", [graph.add("Sub", ["counted", "one"], "place"), "zero"], "places")
    words = graph.add("Gather", [graph.constant("words", graph.weights["words.weight"]), "input_ids"], "word")
    at = graph.add(
        "Gather", [graph.constant("positions", graph.weights["places.weight"][:PLACES]), "places"], "at"
    )
    total = graph.add(
        "Add", [graph.add("Add", [words, at], "placed"), graph.constant("kind", graph.weights["kind"])], "sum"
    )
    graph.add("Cast", ["attention_mask"], "seen", to=TensorProto.FLOAT)
    unseen = graph.add("Sub", [graph.constant("one.float", np.array(1, np.float32)), "seen"], "unseen")
    penalty = graph.add("Mul", [unseen, graph.constant("never", np.array(-1e9, np.float32))], "penalty")
    graph.add("Unsqueeze", [penalty, graph.constant("middle", np.array([1, 2], np.int64))], "mask")
    return graph.norm(total, "norm", "x")


def _layer(graph: _Graph, x: str, number: int) -> str:
    ours = f"layers.{number}."
    heads = graph.constant("heads", np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
    flat = graph.constant("flat", np.array([0, 0, WIDTH], np.int64))
    parts = {}
    for name in ("query", "key", "value"):
        split = graph.add(
            "Reshape", [graph.linear(x, ours + name, f"{ours}{name}.out"), heads], f"{ours}{name}.split"
        )
        order = [0, 2, 3, 1] if name == "key" else [0, 2, 1, 3]
        parts[name] = graph.add("Transpose", [split], f"{ours}{name}.heads", perm=order)
    fits = graph.add("MatMul", [parts["query"], parts["key"]], f"{ours}fits")
    scale = graph.constant("scale", np.array((WIDTH / HEADS) ** -0.5, np.float32))
    masked = graph.add("Add", [graph.add("Mul", [fits, scale], f"{ours}scaled"), "mask"], f"{ours}masked")
    shares = graph.add("Softmax", [masked], f"{ours}shares", axis=-1)
    mixed = graph.add("MatMul", [shares, parts["value"]], f"{ours}mixed")
    joined = graph.add(
        "Reshape", [graph.add("Transpose", [mixed], f"{ours}back", perm=[0, 2, 1, 3]), flat], f"{ours}joined"
    )
    first = graph.norm(
        graph.add("Add", [graph.linear(joined, ours + "out", f"{ours}attended"), x], f"{ours}sum1"),
        ours + "first",
        f"{ours}half",
    )
    wide = _gelu(graph, graph.linear(first, ours + "wide", f"{ours}wide.out"), ours)
    narrow = graph.linear(wide, ours + "narrow", f"{ours}narrow.out")
    return graph.norm(graph.add("Add", [narrow, first], f"{ours}sum2"), ours + "second", f"{ours}done")


def _gelu(graph: _Graph, x: str, ours: str) -> str:
    root = graph.constant("root", np.array(0.5**0.5, np.float32))
    half = graph.constant("half", np.array(0.5, np.float32))
    error = graph.add("Erf", [graph.add("Mul", [x, root], f"{ours}gelu1")], f"{ours}gelu2")
    share = graph.add("Add", [error, "one.float"], f"{ours}gelu3")
    return graph.add("Mul", [graph.add("Mul", [x, share], f"{ours}gelu4"), half], f"{ours}gelu")


def _outputs(graph: _Graph, x: str) -> list[Any]:
    last, across = (
        graph.constant(name, np.array([axis], np.int64)) for name, axis in (("last", -1), ("across", 1))
    )
    wide_mask = graph.add("Unsqueeze", ["seen", last], "seen.wide")
    graph.add("Mul", [x, wide_mask], "states")
    total = graph.add("ReduceSum", ["states", across], "total", keepdims=0)
    mean = graph.add("Div", [total, graph.add("ReduceSum", ["seen", across], "count", keepdims=1)], "mean")
    graph.add("LpNormalization", [mean], "embedding", axis=-1, p=2)
    short = graph.add(
        "MatMul", [x, graph.constant("short", graph.weights["short.weight"].T)], "short_product"
    )
    unit = graph.add("LpNormalization", [short], "short.unit", axis=-1, p=2)
    graph.add("Mul", [unit, wide_mask], "tokens")
    weighed = graph.add(
        "MatMul", [x, graph.constant("weigh", graph.weights["weight.weight"].T)], "importance_product"
    )
    biased = graph.add(
        "Add", [weighed, graph.constant("weigh.bias", graph.weights["weight.bias"])], "importance_sum"
    )
    flat = graph.add("Squeeze", [graph.add("Sigmoid", [biased], "importance_open"), last], "importance_flat")
    graph.add("Mul", [flat, "seen"], "importance")
    sizes = {
        "embedding": ["batch", WIDTH],
        "tokens": ["batch", "length", 64],
        "importance": ["batch", "length"],
        "states": ["batch", "length", WIDTH],
    }
    return [helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in sizes.items()]
