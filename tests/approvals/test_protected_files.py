"""Every name that is protected is seen in an argument, however it is written; nothing else is."""

from __future__ import annotations

import pytest

from tests.approvals.people import Tools
from toolcrib.approvals.facts import Facts
from toolcrib.approvals.rules.protected_files import check
from toolcrib.serverkit.confined.protected import FOLDERS, NAMES

PATHS = sorted({*NAMES, *map("/".join, FOLDERS)})


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("written", ["{}", "./{}", "/home/me/{}", "file:///home/me/{}", "sub/{}/x"])
def test_a_protected_name_is_found_wherever_it_stands(path: str, written: str) -> None:
    for name in (path, path.upper()):
        call = Tools().call("files__write", edits=[{"path": written.format(name)}])

        found = check(call, Facts(ours=False))

        assert found is not None
        assert found.rule == "protected_files"


@pytest.mark.parametrize(
    "text", ["hello", "See v1.2 for more.", "a_b/c.d", "my.gitignore", "library agents", ""]
)
def test_other_texts_are_let_be(text: str) -> None:
    assert check(Tools().call("files__write", text=text), Facts(ours=False)) is None
