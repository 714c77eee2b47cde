"""Test doubles for our tests and yours: a scripted model, a misbehaving server, and a manual clock."""
