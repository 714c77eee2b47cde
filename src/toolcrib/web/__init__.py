"""The host for people: a page in the browser, and the JSON interface that it uses."""
