"""The shared database of tests with several hosts."""

from tests.databases.postgres import postgres, postgres_url

__all__ = ["postgres", "postgres_url"]
