"""Code: runs Python that computes a value: default time limit, longest code, names of variables. Memory and
sandbox are in `services.py`.
"""

from __future__ import annotations

import ast
from typing import Any

from pydantic import Field, field_validator

from toolcrib.graph.node_settings import NodeResult, NodeSettings, fixed, rare
from toolcrib.graph.node_type import NodeContext, NodeType


class CodeSettings(NodeSettings):
    code: str = fixed(
        min_length=1,
        max_length=50_000,
        title="Code",
        description="The body of a Python function; `return` gives the value.",
    )
    inputs: dict[str, Any] = Field(
        default_factory=dict, title="Variables", description="The values that the code can use."
    )
    time_limit: float = rare(default=60, gt=0, le=3600, title="At most", description="Seconds.")

    @field_validator("code")
    @classmethod
    def _is_python(cls, code: str) -> str:
        try:
            ast.parse(code)
        except SyntaxError as error:
            raise ValueError(f"line {error.lineno} is not valid Python: {error.msg}") from None
        except (ValueError, RecursionError, MemoryError):
            raise ValueError("it is not valid Python") from None
        return code

    @field_validator("inputs")
    @classmethod
    def _are_variables(cls, inputs: Any) -> Any:
        wrong = [name for name in inputs if not name.isidentifier()] if isinstance(inputs, dict) else []
        if wrong:
            raise ValueError(f"{wrong[0][:100]!r} is not the name of a variable")
        return inputs


class CodeResult(NodeResult):
    value: Any = Field(default=None, description="What the code returned.")


async def run(settings: CodeSettings, context: NodeContext) -> CodeResult:
    return CodeResult(value=await context.run_code(settings.code, settings.inputs, settings.time_limit))


NODE = NodeType(
    name="Code",
    title="Run code",
    group="data",
    about="Computes a value with Python, in a sandbox without network.",
    settings=CodeSettings,
    example={"code": "return sum(numbers)", "inputs": {"numbers": "{{input.numbers}}"}},
    result=CodeResult,
    run=run,
    timeout=3700.0,
)
