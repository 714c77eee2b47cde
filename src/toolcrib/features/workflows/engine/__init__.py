"""Runs workflows durably on DBOS: what is recorded is never repeated, and what was interrupted goes on."""
