"""Every check of `control/checks` finds something to say of a home, even of one without a host."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import cast, get_args

import pytest

from toolcrib import plugins
from toolcrib.config.paths import find_paths
from toolcrib.errors import ConfigError
from toolcrib.operations.health import CHECKS, CheckContext, CheckModule, Verdict


@pytest.mark.parametrize("name", plugins.names(CHECKS))
async def test_a_check_reports_findings_and_does_not_raise(name: str, tmp_path: Path) -> None:
    module = plugins.find(CHECKS, name)
    paths = find_paths(tmp_path)
    error = ConfigError("The config file cannot be read.", hint="Correct it.")

    findings = await cast("CheckModule", module).check(CheckContext(paths=paths, error=error, environ={}))

    assert inspect.getdoc(module)
    for finding in findings:
        assert finding.name
        assert finding.detail
        assert finding.verdict in get_args(Verdict)
