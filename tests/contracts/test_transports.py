"""Every transport keeps the contract of `servers/transport.py`; the folder is the list."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
from typing import Any

import pytest

from toolcrib import plugins
from toolcrib.config.sections import InvalidValue, Section
from toolcrib.servers.transport import (
    TRANSPORTS,
    Traits,
    find_transport,
    probed_types,
    remote_types,
    traits_of,
)

NAMES = plugins.names(TRANSPORTS)
VALUES = {"url": "https://example.com/mcp", "command": "true", "module": "some.module", "package": "some"}
HEAVY = ("httpx2", "mcp", "pydantic", "anyio")


def entry_of(name: str) -> dict[str, Any]:
    """The least that an entry of this type says: what `toolcrib add --type` would write."""
    key = traits_of(name).first_word
    return {key: VALUES.get(key, "something")}


@pytest.mark.parametrize("name", NAMES)
def test_a_transport_offers_its_traits_its_keys_and_a_way_to_open_it(name: str) -> None:
    module = find_transport(name)

    assert isinstance(module.TRAITS, Traits)
    assert issubclass(module.Spec, Section)
    assert dataclasses.is_dataclass(module.Spec)
    assert list(inspect.signature(module.open).parameters) == ["spec", "inbox", "context"]
    assert inspect.getdoc(module)
    assert inspect.getdoc(module.open)


@pytest.mark.parametrize("name", NAMES)
def test_a_transport_reads_its_own_keys_and_passes_over_those_of_others(name: str) -> None:
    spec = find_transport(name).Spec.read({**entry_of(name), "someKeyOfAnotherProgram": 1})

    key = traits_of(name).first_word
    assert getattr(spec, key) == VALUES.get(key, "something")
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(spec, key, "other")


@pytest.mark.parametrize("name", NAMES)
def test_a_key_of_the_wrong_kind_is_refused_by_name(name: str) -> None:
    key = traits_of(name).first_word

    with pytest.raises(InvalidValue) as refused:
        find_transport(name).Spec.read({**entry_of(name), key: ["a", "list"]})

    assert refused.value.path[0] == key


@pytest.mark.parametrize("name", NAMES)
def test_the_traits_of_a_transport_agree_with_its_module(name: str) -> None:
    module: Any = find_transport(name)
    traits = module.TRAITS
    fields = {one.name for one in dataclasses.fields(module.Spec)}

    assert sum((traits.spawns, traits.remote, traits.in_process)) <= 1
    assert traits.first_word in fields
    assert not traits.remote or {"url", "headers"} <= fields
    assert hasattr(module, "start") == traits.installable
    assert hasattr(module, "resolve") == traits.exportable
    assert traits.index in ("", "npm", "pypi")
    assert traits.probe is None or traits.remote


def test_what_is_known_of_our_own_types() -> None:
    assert {name for name in NAMES if traits_of(name).spawns} >= {"stdio", "npm", "python", "custom"}
    assert {name for name in NAMES if traits_of(name).installable} >= {"npm", "python", "custom"}
    assert {"http", "sse"} <= set(remote_types())
    assert probed_types()[:2] == ("http", "sse")


@pytest.mark.parametrize("kind", [None, "", "no-such-type", "__init__", "../stdio"])
def test_an_unknown_type_has_no_traits(kind: str | None) -> None:
    assert traits_of(kind) == Traits()


def test_reading_the_traits_of_all_transports_loads_nothing_heavy() -> None:
    program = (
        "import sys; from toolcrib import plugins; from toolcrib.servers.transport import *\n"
        "for name in plugins.names(TRANSPORTS): traits_of(name)\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    ours = {f"toolcrib.servers.transports.{name}" for name in ("http", "sse", "stdio", "inprocess")}
    loaded = set(done.stdout.split())
    assert ours <= loaded
    assert not {module.partition(".")[0] for module in loaded} & set(HEAVY)
