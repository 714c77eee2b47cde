"""The live stream: one series for all pages, resumed after a break, begun anew after too long a one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx2

from tests.cli.waiting import eventually
from tests.web.running import DEADLINE, Crib

News = dict[str, Any]


def until(events: Iterator[News], fits: Callable[[News], bool]) -> News:
    """The first that fits; the stream itself has a deadline."""
    return next(one for one in events if fits(one))


def of(kind: str, **what: Any) -> Callable[[News], bool]:
    return lambda one: one["kind"] == kind and all(one.get(key) == value for key, value in what.items())


def _is_ready(server: News, name: str) -> bool:
    return (server["name"], server["state"]) == (name, "ready")


def test_a_page_hears_what_happens_to_servers_tools_and_calls(crib: Crib) -> None:
    with crib.live() as events:
        hello = next(events)
        crib.run("call", tool="demo__add", arguments={"a": 1, "b": 2})
        call = until(events, of("call"))
        crib.run("restart", name="demo")
        until(events, lambda one: one["kind"] == "server" and _is_ready(one["server"], "demo"))
        crib.run("disable", name="demo")
        until(events, of("tools", server="demo"))
        until(events, of("config", error=None))

    assert (hello["kind"], hello["resumed"]) == ("hello", False)
    assert call["record"]["tool"] == "demo__add"


def test_a_bad_edit_of_the_file_is_told_and_so_is_its_mending(crib: Crib) -> None:
    crib.start()
    file = crib.home / "mcp.json"
    good = file.read_text()
    with crib.live() as events:
        next(events)
        file.write_text("{")
        bad = until(events, of("config"))
        trouble = crib.run("overview")["config_error"]
        file.write_text(good)
        until(events, of("config", error=None))

    assert "line 1" in bad["error"]
    assert trouble["line"] == 1
    assert crib.run("overview")["config_error"] is None


def test_a_server_that_is_gone_is_told_of(crib: Crib) -> None:
    crib.start()
    with crib.live() as events:
        next(events)
        crib.run("remove", name="demo")
        until(events, of("server_removed", name="demo"))


def test_who_comes_back_hears_what_was_missed_in_order(crib: Crib) -> None:
    crib.start()
    with crib.live() as events:
        last = next(events)["id"]
    crib.run("restart", name="demo")
    crib.run("disable", name="demo")

    with crib.live(last) as events:
        hello = next(events)
        missed = []
        while not missed or missed[-1]["kind"] != "config":
            missed.append(next(events))

    assert hello["resumed"] is True
    assert [one["seq"] for one in missed] == list(range(number(last) + 1, missed[-1]["seq"] + 1))
    assert any(map(switched_off, missed))


def test_who_knew_another_run_of_the_host_begins_anew(crib: Crib) -> None:
    crib.start()
    with crib.live() as events:
        last = next(events)["id"]
    crib.restart()

    with crib.live(last) as events:
        hello, reset = next(events), next(events)

    assert (hello["resumed"], reset["kind"]) == (False, "reset")
    assert not hello["id"].startswith(last.partition("-")[0])


def test_an_id_that_never_was_begins_anew(crib: Crib) -> None:
    crib.start()
    with crib.live() as events:
        run = next(events)["run"]
    for strange in ("x", f"{run}-999999", f"{run}--1", "-", f"{run}-x"):
        with crib.live(strange) as events:
            assert [next(events)["kind"], next(events)["kind"]] == ["hello", "reset"]


def number(event_id: str) -> int:
    return int(event_id.rpartition("-")[2])


def switched_off(news: News) -> bool:
    return news["kind"] == "server" and news["server"]["state"] == "disabled"


def test_several_pages_hear_the_same(crib: Crib) -> None:
    crib.start()
    with crib.live() as one, crib.live() as other:
        next(one), next(other)
        crib.run("disable", name="demo")
        first, second = until(one, switched_off), until(other, switched_off)

    assert first["id"] == second["id"]


def test_many_calls_are_counted_instead_of_told(crib: Crib) -> None:
    crib.start()
    seen: list[News] = []
    with crib.live() as events:
        next(events)
        with httpx2.Client(base_url=crib.base, headers=crib.headers(), timeout=DEADLINE) as client:
            for _ in range(60):  # over one connection, so that even a slow machine makes many in a moment
                client.post("/api/call", json={"tool": "demo__add", "arguments": {"a": 1, "b": 2}})
        told = 0
        while told < 60:
            one = next(events)
            seen.append(one)
            told += {"call": 1, "calls": one.get("count", 0)}.get(one["kind"], 0)

    assert told == 60
    assert any(one["kind"] == "calls" for one in seen)


def test_a_page_that_returns_after_the_last_one_left_looks_at_the_calls_again(crib: Crib) -> None:
    with crib.live() as events:
        known = next(events)["id"]
    crib.run("call", tool="demo__add", arguments={"a": 1, "b": 2})

    with crib.live(known) as events:
        missed = until(events, lambda one: one["kind"] in ("call", "calls"))

    assert (missed["kind"], missed.get("count")) in (("calls", 0), ("call", None))


def test_an_answer_names_the_event_before_it_and_a_stream_the_one_before_its_first(crib: Crib) -> None:
    answered = crib.post("/api/host_info", {}).headers["x-event-id"]
    crib.run("disable", name="demo")
    later = crib.post("/api/host_info", {}).headers["x-event-id"]
    with httpx2.stream("GET", f"{crib.base}/api/live", headers=crib.headers(), timeout=DEADLINE) as stream:
        begins = stream.headers["x-event-id"]

    run, number = answered.split("-")
    assert later.split("-")[0] == begins.split("-")[0] == run
    assert int(number) < int(later.split("-")[1]) <= int(begins.split("-")[1])


def test_what_waits_for_a_person_is_told_as_it_comes_and_goes(crib: Crib) -> None:
    crib.setting(approvals={"headless": "wait", "modes": {"page": "always"}})
    crib.start()
    answers: list[int] = []

    def call() -> None:
        body = {"tool": "demo__add", "arguments": {"a": 1, "b": 2}}
        answers.append(crib.post("/api/call", body).status_code)

    assert crib.key
    with crib.live() as events:
        next(events)
        caller = threading.Thread(target=call)
        caller.start()
        waiting = until(events, lambda one: one["kind"] == "waiting" and one["count"] == 1)
        (item,) = crib.run("waiting")["items"]
        assert crib.run("host_info")["counts"]["needs_you"] == 1
        crib.run("approval_answer", id=item["id"], allow=True)
        until(events, of("waiting", count=0))
        caller.join(DEADLINE)

    assert (item["kind"], item["server"], item["tool"], item["durable"]) == (
        "call",
        "demo",
        "demo__add",
        True,
    )
    assert waiting["oldest"]["id"] == item["id"]
    assert answers == [200]


def test_servers_that_need_a_person_wait_after_questions(crib: Crib) -> None:
    crib.environment["TOOLCRIB_TRUST_CONFIG"] = "0"
    crib.entry("new", {"command": "/no/such/program"})
    crib.entry("secretive", {"command": "/bin/true", "env": {"A": "${secret:NOT_THERE}"}})

    found = eventually(lambda: crib.run("waiting")["items"])

    assert {one["kind"] for one in found} == {"trust"}
    assert all(one["since"] for one in found)


def test_a_value_that_is_missing_waits_for_a_person(crib: Crib) -> None:
    crib.entry("secretive", {"command": "/bin/true", "env": {"A": "${secret:NOT_THERE}"}})

    (item,) = eventually(lambda: crib.run("waiting")["items"])
    (glance,) = [one for one in crib.run("overview")["servers"] if one["name"] == "secretive"]

    assert (item["kind"], item["server"]) == ("value", "secretive")
    assert glance["missing"] == ["NOT_THERE"]


def test_a_page_that_is_revoked_is_cut_off(crib: Crib) -> None:
    crib.start()
    with crib.live() as events:
        next(events)
        (page,) = json.loads(crib.command("open", "--list", "--json").out)
        revoked = crib.command("open", "--revoke", page["id"])
        rest = list(events)

    assert revoked.code == 0
    assert all(one["kind"] != "reset" for one in rest)
    assert crib.get("/api/live").status_code == 401


def test_the_host_ends_in_time_while_pages_listen(crib: Crib) -> None:
    crib.start()
    with crib.live() as one, crib.live() as other:
        next(one), next(other)
        assert crib.stop() == ""
        list(one), list(other)
