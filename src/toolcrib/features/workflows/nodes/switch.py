"""Switch: chooses between several paths: names of cases, `default`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from toolcrib.graph.conditions import Condition, describe, holds
from toolcrib.graph.node_settings import NodeResult, NodeSettings, fixed, structure
from toolcrib.graph.node_type import NodeType, Route

DEFAULT = "default"
CaseName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_ -]{0,63}$")]


class SwitchCase(NodeSettings):
    """A path and when it is taken."""

    name: CaseName = fixed(title="Name", description="The name of the output.")
    condition: Condition = Field(title="Condition", description="When this way is taken.")


class SwitchSettings(NodeSettings):
    cases: list[SwitchCase] = structure(
        min_length=1,
        max_length=100,
        title="Cases",
        description="The first one whose condition is true is taken.",
    )

    @model_validator(mode="after")
    def _unique_names(self) -> SwitchSettings:
        names = [case.name for case in self.cases]
        for name in names:
            if names.count(name) > 1 or name in (DEFAULT, "error"):
                raise ValueError(f"the case name {name!r} is already an output")
        return self


class SwitchResult(NodeResult):
    case: str = Field(description="The name of the output that was taken.")


def decide(settings: SwitchSettings, completed: int) -> Route:
    for case in settings.cases:
        if holds(case.condition):
            return Route(output=case.name, reason=describe(case.condition), value={"case": case.name})
    return Route(output=DEFAULT, reason="no condition is true", value={"case": DEFAULT})


NODE = NodeType(
    name="Switch",
    title="Switch",
    group="control",
    about="Goes on at the first case whose condition is true, or at “otherwise”.",
    settings=SwitchSettings,
    example={
        "cases": [
            {"name": "many", "condition": {"left": "{{find.count}}", "operator": "greater_than", "right": 10}}
        ]
    },
    result=SwitchResult,
    outputs=lambda settings: (*(case.name for case in settings.cases), DEFAULT),
    passed=lambda settings: DEFAULT,
    flow="branch",
    decide=decide,
)
