"""The client side of the official conformance suite, driven against our session and our HTTP transport.

Every scenario runs at every protocol version it knows, so both eras are covered. Two run at a time.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.conformance.install import install
from tests.real_servers.node import ROOT

Case = tuple[str, str]
"""A scenario and the protocol version it runs at; extensions have none."""
EXTENSION = "extension"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
BOTH = (LEGACY, MODERN)
ALL = ("2025-06-18", *BOTH)
CLIENT = shlex.join([sys.executable, "-m", "tests.conformance.client"])

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

# The skills extension: a client that loads no skills has nothing to verify, so there is nothing to check.
NOTHING_TO_CHECK = {name for name in SCENARIOS if name.startswith("sep-2640-client-verify-")}

CASES: list[Case] = [(scenario, version) for scenario, versions in SCENARIOS.items() for version in versions]


def run_case(case: Case) -> subprocess.CompletedProcess[str]:
    """One run of the suite: it starts its server, and our client with the server's address."""
    scenario, version = case
    command = [*install(), "client", "--command", CLIENT, "--scenario", scenario, "--timeout", "60000"]
    if version != EXTENSION:
        command += ["--spec-version", version]
    # A copy of the environment: other tests change it meanwhile, and a child that shares it may fail.
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=dict(os.environ), timeout=100
    )


@pytest.fixture(scope="session")
def runs(request: pytest.FixtureRequest) -> Iterator[dict[Case, Future[subprocess.CompletedProcess[str]]]]:
    """All runs that this session wants, under way two at a time."""
    items = (item for item in request.session.items if isinstance(item, pytest.Function))
    wanted = [item.callspec.params["case"] for item in items if item.function is test_a_scenario_passes]
    install()
    with ThreadPoolExecutor(2) as pool:
        yield {case: pool.submit(run_case, case) for case in wanted}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_a_scenario_passes(case: Case, runs: dict[Case, Future[subprocess.CompletedProcess[str]]]):
    run = runs[case].result()
    report = f"{run.stdout}\n{run.stderr}"
    assert run.returncode == 0, report
    summary = re.search(r"Passed: (\d+)/(\d+), (\d+) failed, (\d+) warnings", report)
    assert summary is not None, report
    passed, checks, failed, warnings = map(int, summary.groups())
    assert (passed, failed, warnings) == (checks, 0, 0), report
    assert checks > 0 or case[0] in NOTHING_TO_CHECK, report


def test_no_scenario_of_the_suite_is_forgotten():
    listed = subprocess.run([*install(), "list", "--client"], capture_output=True, text=True, check=True)
    known = {
        name: tuple(versions.split(",")) for name, versions in re.findall(r"- (\S+) \[(.*?)\]", listed.stdout)
    }
    assert {name: known[name] for name in SCENARIOS} == SCENARIOS
    assert set(known) - set(SCENARIOS) == LEFT_OUT
