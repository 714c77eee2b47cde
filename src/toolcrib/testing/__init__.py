"""Fakes that users may use too: a scripted server that misbehaves on demand, and a clock that tests turn."""
