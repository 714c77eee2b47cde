"""Rate limits are learned from responses: of a route, of a shared bucket, and of all requests."""

from __future__ import annotations

from toolcrib.accounts.rate_limits import MAX_ROUTES, RateLimits, route_of, seconds
from toolcrib.testing.clock import TurnedClock

SEND = route_of("POST", "/channels/700000000000000001/messages")
EDIT = route_of("PATCH", "/channels/700000000000000001/messages/900000000000000001")
ELSEWHERE = route_of("POST", "/channels/700000000000000002/messages")


def test_a_route_keeps_the_ids_that_have_limits_of_their_own() -> None:
    assert EDIT == "PATCH /channels/700000000000000001/messages/ID"
    assert route_of("GET", "/guilds/5/members/6") == "GET /guilds/5/members/ID"
    assert route_of("GET", "/users/@me") == "GET /users/@me"


def test_a_used_up_route_is_free_again_after_its_reset() -> None:
    clock = TurnedClock()
    limits = RateLimits(clock)

    limits.learn(SEND, {"x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "2.5"})

    assert limits.delay(SEND) == 2.5
    assert limits.delay(ELSEWHERE) == 0
    clock.turn(3)
    assert limits.delay(SEND) == 0


def test_routes_of_one_bucket_share_their_limit_but_not_with_another_channel() -> None:
    limits = RateLimits(TurnedClock())
    for route in (SEND, EDIT, ELSEWHERE):
        limits.learn(route, {"x-ratelimit-bucket": "abc", "x-ratelimit-remaining": "4"})

    limits.block(SEND, 5)

    assert limits.delay(EDIT) == 5
    assert limits.delay(ELSEWHERE) == 0


def test_a_global_limit_holds_for_every_route() -> None:
    limits = RateLimits(TurnedClock())

    limits.block(SEND, 7, every_route=True)

    assert limits.delay(ELSEWHERE) == 7


def test_unreadable_limits_are_ignored() -> None:
    limits = RateLimits(TurnedClock())

    limits.learn(SEND, {"x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "soon"})

    assert limits.delay(SEND) == 0
    assert [seconds(value) for value in ("1.5", 2, "-1", "nan", "inf", "Wed, 21 Oct", None)] == [
        1.5,
        2,
        None,
        None,
        None,
        None,
        None,
    ]


def test_what_is_past_is_forgotten_when_there_is_much() -> None:
    clock = TurnedClock()
    limits = RateLimits(clock)
    for number in range(MAX_ROUTES + 10):
        limits.block(f"GET /{number}", 1)
    clock.turn(2)
    limits.block(SEND, 9)

    limits.learn(ELSEWHERE, {})

    assert limits.delay(SEND) == 9
    assert len(limits._free_at) == 1
