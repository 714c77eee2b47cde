"""Ways to make text of a page, one module each: `TITLE` and `extract(html, url)`."""
