"""The exact types of what operations answer, by subject; the page's own types are made from them."""
