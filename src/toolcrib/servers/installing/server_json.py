"""The `server.json` of the MCP registry: packages with their arguments and variables, in either spelling."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from toolcrib.errors import InstallFailed
from toolcrib.servers.installing.answers import literal, slot
from toolcrib.servers.installing.plan import Question


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


class Input(_Model):
    """A value that is fixed, has a default, or must be asked for."""

    name: str = ""
    type: str = "positional"
    value: str | None = None
    value_hint: str = ""
    default: str | None = None
    description: str = ""
    is_required: bool = False
    is_secret: bool = False
    is_repeated: bool = False
    choices: tuple[str, ...] | None = ()
    format: str = "string"
    variables: dict[str, Input] = {}


class Transport(_Model):
    """How the server speaks."""

    type: str = "stdio"
    url: str = ""


class Package(_Model):
    """One way to get the server."""

    registry_type: str = Field(
        default="", validation_alias=AliasChoices("registryType", "registry_type", "registry_name")
    )
    identifier: str = Field(default="", validation_alias=AliasChoices("identifier", "name"))
    version: str = ""
    file_sha256: str = Field(default="", validation_alias=AliasChoices("fileSha256", "file_sha256"))
    package_arguments: tuple[Input, ...] = ()
    environment_variables: tuple[Input, ...] = ()
    transport: Transport = Transport()


class Remote(_Model):
    """An address at which the server runs already."""

    type: str = "streamable-http"
    url: str


class ServerJson(_Model):
    """The whole file."""

    name: str
    description: str = ""
    version: str = ""
    packages: tuple[Package, ...] = ()
    remotes: tuple[Remote, ...] = ()


def read_server_json(content: bytes, source: str) -> ServerJson:
    """Check it; raises `InstallFailed` that names what is wrong."""
    try:
        data = json.loads(content.decode("utf-8-sig"))
        # The registry's own answers put it one level down.
        if isinstance(data, dict) and isinstance(data.get("server"), dict):
            data = data["server"]
        return ServerJson.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InstallFailed(f"{source} is no server.json: {where}: {first['msg']}.") from None
    except (ValueError, RecursionError) as error:
        raise InstallFailed(f"{source} is no JSON: {error}") from None


class Asking:
    """Turns inputs into words of a command line, and what is not fixed into questions."""

    def __init__(self) -> None:
        self.questions: list[Question] = []

    def arguments(self, inputs: tuple[Input, ...]) -> list[str]:
        """The words, in order, with slots for answers."""
        words: list[str] = []
        for one in inputs:
            value = self._value(one, one.name.lstrip("-") or one.value_hint or "value")
            if one.type != "named":
                words.append(value or "")
            elif value is None:
                words.append(literal(one.name))
            else:
                # One word, so that an answer that nobody gave takes the name with it.
                words.append(f"{literal(one.name)}={value}")
        return [word for word in words if word]

    def variables(self, inputs: tuple[Input, ...]) -> dict[str, str]:
        """The environment, with slots for answers."""
        found = {one.name: self._value(one, one.name) for one in inputs if one.name}
        return {name: value for name, value in found.items() if value is not None}

    def _value(self, one: Input, key: str) -> str | None:
        if one.value is not None:
            return self._with_variables(one)
        if one.type == "named" and one.default is None and not one.is_required and not one.value_hint:
            return None
        return self._ask(one, key)

    def _with_variables(self, one: Input) -> str:
        parts = re.split(r"\{([^}]+)\}", one.value or "")
        shown = [literal(parts[0])]
        for name, rest in zip(parts[1::2], parts[2::2], strict=True):
            variable = one.variables.get(name)
            shown.append(self._ask(variable, name) if variable else f"{{{name}}}")
            shown.append(literal(rest))
        return "".join(shown)

    def _ask(self, one: Input, key: str) -> str:
        if any(question.key == key for question in self.questions):
            key = f"{key}_{len(self.questions) + 1}"
        kinds: dict[str, Any] = {"filepath": "file", "number": "number", "boolean": "boolean"}
        self.questions.append(
            Question(
                key=key,
                title=key,
                description=one.description,
                kind=kinds.get(one.format, "string"),
                required=one.is_required,
                default=one.default,
                multiple=one.is_repeated,
                secret=one.is_secret,
                choices=one.choices or (),
            )
        )
        return slot(key)
