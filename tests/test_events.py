"""Who hears of what: everybody of everything, but for what they do not want."""

from __future__ import annotations

from toolcrib.events import Bus


async def test_a_listener_does_not_wake_for_what_it_does_not_want():
    bus: Bus[object] = Bus()
    with bus.subscribe(without=int) as words, bus.subscribe() as all_:
        for event in (1, "one", 2):
            bus.publish(event)
        assert await words.next() == "one"
        assert not words.unheard
        assert [await all_.next() for _ in range(3)] == [1, "one", 2]


async def test_an_event_that_nobody_wants_need_not_be_made():
    bus: Bus[object] = Bus()
    assert not bus.hears(int)
    with bus.subscribe(without=int):
        assert not bus.hears(int)
        assert bus.hears(str)
        with bus.subscribe():
            assert bus.hears(int)


async def test_it_is_known_whether_somebody_has_yet_to_hear_of_something():
    bus: Bus[object] = Bus()
    with bus.subscribe() as listener:
        assert not bus.behind
        bus.publish("news")
        assert bus.behind
        await listener.next()
        assert not bus.behind
