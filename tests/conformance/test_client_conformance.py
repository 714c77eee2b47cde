"""The client side of the official conformance suite, driven against our session and our HTTP transport.

Every scenario runs at every protocol version it knows, so both eras are covered. The suite is started once
for each version, and its results are reported scenario by scenario.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import cache

import pytest

from tests.conformance.client_suite import Outcome, run_suite
from tests.conformance.install import install

# The first test of a version waits for the whole suite.
pytestmark = [pytest.mark.acceptance, pytest.mark.quiet, pytest.mark.timeout(1000)]

Case = tuple[str, str]
"""A scenario and the protocol version it runs at; extensions have none."""
EXTENSION = "extension"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
BOTH = (LEGACY, MODERN)
ALL = ("2025-06-18", *BOTH)

SCENARIOS: dict[str, tuple[str, ...]] = {
    "initialize": ("2025-06-18", LEGACY),
    "tools_call": ALL,
    "elicitation-sep1034-client-defaults": (LEGACY,),
    "sse-retry": (LEGACY,),
    "request-metadata": (MODERN,),
    "http-standard-headers": (MODERN,),
    "http-custom-headers": (MODERN,),
    "http-invalid-tool-headers": (MODERN,),
    "json-schema-ref-no-deref": (MODERN,),
    "json-schema-2020-12-preservation": BOTH,
    "sep-2322-client-request-state": (MODERN,),
    "auth/metadata-default": BOTH,
    "auth/metadata-var1": BOTH,
    "auth/metadata-var2": BOTH,
    "auth/metadata-var3": BOTH,
    "auth/basic-cimd": BOTH,
    "auth/scope-from-www-authenticate": BOTH,
    "auth/scope-from-scopes-supported": BOTH,
    "auth/scope-omitted-when-undefined": BOTH,
    "auth/scope-step-up": BOTH,
    "auth/scope-retry-limit": BOTH,
    "auth/token-endpoint-auth-basic": ALL,
    "auth/token-endpoint-auth-post": ALL,
    "auth/token-endpoint-auth-none": ALL,
    "auth/pre-registration": BOTH,
    "auth/2025-03-26-oauth-metadata-backcompat": ("2025-03-26",),
    "auth/2025-03-26-oauth-endpoint-fallback": ("2025-03-26",),
    "auth/resource-mismatch": (MODERN,),
    "auth/offline-access-scope": (MODERN,),
    "auth/offline-access-not-supported": (MODERN,),
    "auth/authorization-server-migration": (MODERN,),
    "auth/iss-supported": (MODERN,),
    "auth/iss-not-advertised": (MODERN,),
    "auth/iss-supported-missing": (MODERN,),
    "auth/iss-wrong-issuer": (MODERN,),
    "auth/iss-unexpected": (MODERN,),
    "auth/iss-normalized": (MODERN,),
    "auth/metadata-issuer-mismatch": (MODERN,),
    "auth/client-credentials-jwt": (EXTENSION,),
    "auth/client-credentials-basic": (EXTENSION,),
    "auth/enterprise-managed-authorization": (EXTENSION,),
    "sep-2640-client-no-prefetch": (EXTENSION,),
    "sep-2640-client-verify-digest": (EXTENSION,),
    "sep-2640-client-verify-size": (EXTENSION,),
    "sep-2640-client-verify-frontmatter": (EXTENSION,),
}

# Extensions of the sign-in that nobody requires and that the SDK's own client fails too: proof of possession
# (SEP-1932) and workload identities (SEP-1933).
LEFT_OUT = {"auth/dpop", "auth/dpop-nonce", "auth/wif-jwt-bearer"}

# The suite wants the client to give up, so that its exit code says nothing.
MAY_FAIL = {
    "auth/scope-retry-limit",
    "auth/resource-mismatch",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch",
    "http-invalid-tool-headers",
}

# The skills extension: a client that loads no skills has nothing to verify, so there is nothing to check.
NOTHING_TO_CHECK = {name for name in SCENARIOS if name.startswith("sep-2640-client-verify-")}

# The skills extension again: these are in none of the suites.
ALONE = {name for name in SCENARIOS if name.startswith("sep-2640-")}

CASES: list[Case] = [(scenario, version) for scenario, versions in SCENARIOS.items() for version in versions]
CASES.sort(key=lambda case: case[1])


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Outcome]]:
    """Runs the suite with these options, once; the outcome of each of its scenarios."""

    @cache
    def run(*options: str) -> dict[str, Outcome]:
        return run_suite(options, tmp_path_factory.mktemp("conformance"))

    return run


def options_of(case: Case) -> tuple[str, ...]:
    """The run of the suite in which a case is found."""
    scenario, version = case
    if version != EXTENSION:
        return "--suite", "all", "--spec-version", version
    return ("--scenario", scenario) if scenario in ALONE else ("--suite", "extensions")


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_a_scenario_passes(case: Case, suite: Callable[..., dict[str, Outcome]]):
    scenario, outcome = case[0], suite(*options_of(case))[case[0]]

    assert outcome.exit_code == 0 or scenario in MAY_FAIL, outcome.report
    assert (outcome.failed, outcome.warnings) == (0, 0), outcome.report
    assert outcome.passed > 0 or scenario in NOTHING_TO_CHECK, outcome.report


def test_no_scenario_of_the_suite_is_forgotten():
    listed = subprocess.run([*install(), "list", "--client"], capture_output=True, text=True, check=True)
    known = {
        name: tuple(versions.split(",")) for name, versions in re.findall(r"- (\S+) \[(.*?)\]", listed.stdout)
    }
    assert {name: known[name] for name in SCENARIOS} == SCENARIOS
    assert set(known) - set(SCENARIOS) == LEFT_OUT
