"""Secret inputs: what is stored has marks instead, which only the key of the run turns back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolcrib.features.workflows.secret_inputs import (
    NOTHING,
    LostSecrets,
    RunKey,
    SecretInputs,
    seal,
    unseal,
    without_marks,
)
from toolcrib.schema.workflows import Workflow

KEY = RunKey(find=lambda: b"key", create=lambda: b"key")
VALUES: dict[str, Any] = {
    "password": 'quo"te\\ünï⟦secret⟧',
    "word": "secret",
    "pin": 2468,
    "short": "ab",
    "rate": 0.125,
    "login": {"user": "mallory9", "list": ["inner-value", 99887766]},
}


@pytest.mark.parametrize(
    "value",
    [
        *VALUES.values(),
        VALUES,
        f"text with {VALUES['password']} and secret, 2468 twice: secret",
        json.dumps(VALUES),
        json.dumps(VALUES, ensure_ascii=False),
        {VALUES["password"]: [{"deep": "x secret y"}]},
        ["2468", 2468, True, None, "ab", "abc", 1, ""],
        "⟦secret word 0123456789abcdef⟧ from outside",
    ],
)
def test_what_was_hidden_comes_back_exactly_and_is_not_in_what_is_stored(value: Any) -> None:
    secrets = SecretInputs(VALUES, "run-1", b"key")

    stored = json.dumps(secrets.hide(value), ensure_ascii=False)

    back = secrets.reveal(json.loads(stored))
    assert back == value
    assert (
        [type(part) for part in back] == [type(part) for part in value] if isinstance(value, list) else True
    )
    for text in ("quo", "mallory9", "inner-value", "99887766", "2468", "0.125"):
        assert text not in stored


def test_text_from_outside_cannot_become_a_secret() -> None:
    secrets = SecretInputs({"word": "hunter2"}, "run-1", b"key")
    others = [
        SecretInputs({"word": "hunter2"}, run, key) for run, key in (("run-2", b"key"), ("run-1", b"x"))
    ]

    for other in others:
        mark = other.hide("hunter2")
        assert "hunter2" not in secrets.reveal(mark)
    assert secrets.reveal(secrets.hide("hunter2")) == "hunter2"


def test_what_is_shown_names_the_input_and_not_its_value() -> None:
    secrets = SecretInputs({"word": "hunter2"}, "run-1", b"key")

    assert secrets.shown({"a": "is hunter2"}) == {"a": "is •••"}
    assert secrets.shown("hunter2", lambda name: f"({name})") == "(word)"
    assert without_marks(secrets.hide(["hunter2"])) == ["•••"]
    assert NOTHING.shown("hunter2") == "hunter2"


async def test_sealed_values_belong_to_one_run_and_one_key() -> None:
    workflow = Workflow.model_validate(
        {
            "name": "w",
            "nodes": {"n": {"type": "Wait", "settings": {"seconds": 1}}},
            "inputs": {"pw": {"secret": True}},
        }
    )
    secrets = await seal(workflow, {"pw": "hunter2"}, "run-1", KEY, NOTHING, [])
    document = {"sealed": secrets.sealed()}

    assert (await unseal(document, "run-1", KEY)).values == {"pw": "hunter2"}
    assert "hunter2" not in document["sealed"]
    with pytest.raises(LostSecrets):
        await unseal(document, "run-2", KEY)
    with pytest.raises(LostSecrets):
        await unseal(document, "run-1", RunKey(find=lambda: b"other", create=lambda: b"other"))
    with pytest.raises(LostSecrets):
        await unseal(document, "run-1", RunKey(find=lambda: None, create=lambda: b""))
