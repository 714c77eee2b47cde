"""Every launcher of `config/paste/launchers` names its programs, and no two of them the same one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from toolcrib import plugins
from toolcrib.config.paste.parser import LAUNCHERS
from toolcrib.config.paste.pasted import CommandLine

NAMES = plugins.names(LAUNCHERS)


@pytest.mark.parametrize("name", NAMES)
def test_a_launcher_names_its_programs_and_leaves_a_bare_one_alone(name: str) -> None:
    launcher = plugins.find(LAUNCHERS, name)

    assert launcher.NAMES
    for program in launcher.NAMES:
        assert launcher.understand(CommandLine(words=(program,), env={}, cwd=Path.cwd())) is None


def test_no_two_launchers_claim_one_program() -> None:
    counts = Counter(program for name in NAMES for program in plugins.find(LAUNCHERS, name).NAMES)

    assert [program for program, count in counts.items() if count > 1] == []
