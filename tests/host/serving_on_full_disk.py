"""Run as a program: a host whose disk fills up, and has room again."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tests.features.backup.restoring_on_full_disk import filled
from toolcrib.errors import ToolcribError
from toolcrib.host import Host, open_host
from toolcrib.operations.operation import Invocation
from toolcrib.operations.registry import perform

DENY = {"effect": "deny", "server": "demo"}


async def run(host: Host, operation: str, params: dict[str, Any]) -> Any:
    try:
        return await perform(host, operation, params, Invocation())
    except ToolcribError as error:
        return f"{error.message} {error.hint}"


async def effects(host: Host) -> list[str]:
    return [rule["effect"] for rule in (await run(host, "policy_list", {}))["rules"]]


async def main(disk: Path) -> None:
    told: dict[str, Any] = {}
    async with open_host(disk / "home") as host:
        with filled(disk, 0):
            checks = (await run(host, "doctor", {}))["checks"]
            told["broken"] = [check["name"] for check in checks if check["verdict"] == "broken"]
            told["call"] = (await host.call("demo__add", {"a": 1, "b": 2}))["content"][0]["text"]
            told["added"] = await run(host, "policy_add", {"rule": DENY})
            told["rules"] = await effects(host)
        for _ in range(30):
            if await host.approvals.policy.rules.stored():
                break
    async with open_host(disk / "home") as host:
        told["rules later"] = await effects(host)
    print(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
