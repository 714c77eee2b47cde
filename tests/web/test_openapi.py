"""The page's interface stays as it is: the generated OpenAPI document equals the one in `openapi.json`.

Texts for readers and the version are not part of it. After an intended change of the interface run
`python -m tests.web.test_openapi`, which writes the file, and review its diff.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolcrib.web.contract import document

FROZEN = Path(__file__).with_name("openapi.json")
TEXTS = ("description", "summary")


def interface() -> Any:
    """The generated document without its texts and its version."""
    described = _without_texts(document())
    del described["info"]["version"]
    return described


def _without_texts(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_texts(item) for item in value]
    if not isinstance(value, dict):
        return value
    # A property may be called `description`; then its value is a schema, not a text.
    return {
        key: _without_texts(inner)
        for key, inner in value.items()
        if key not in TEXTS or not isinstance(inner, str)
    }


def test_the_interface_of_the_page_is_unchanged() -> None:
    frozen = json.loads(FROZEN.read_text(encoding="utf-8"))
    now = interface()

    assert sorted(now["paths"]) == sorted(frozen["paths"])
    assert sorted(now["components"]["schemas"]) == sorted(frozen["components"]["schemas"])
    changed = [path for path, described in now["paths"].items() if described != frozen["paths"][path]]
    assert changed == []
    assert now == frozen, "See the module's docstring."


def write() -> None:
    """Freeze the interface as it is now."""
    FROZEN.write_text(json.dumps(interface(), indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
