"""Removes what is around and between the content of a page: navigation, forms, share buttons, banners. Has
the lists of class names and of lines that are dropped ("Advertisement", "Back to top"), and the share of
links that is too much.

An element goes for its tag or role, or for its name or its share of links unless its text was chosen.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from toolcrib.bundled.websearch.extraction.content import Content, Measure
from toolcrib.bundled.websearch.extraction.document import listed
from toolcrib.bundled.websearch.extraction.hidden import remove

_FLAGS = re.IGNORECASE | re.VERBOSE

NAMES = re.compile(
    r"""
    # Ways around the site
    nav(?:bar|igation|header|footer)? | (?:top)?menu | (?:bread)?crumbs? | sidenav | toc-sidebar
    | pagination | pager | prevnext | footer | masthead | colophon | (?:site|page)-?(?:header|footer) | topbar
    | skip-?links?
    | back-?to-?top | scroll-?top | on-?this-?page | language-?switcher | lang-?(?:switch|select)\w*
    | catlinks | navbox | sistersitebox | see-?also-?links | prev-?next
    # Consent, advertisements
    | cookies? | cookie-?\w+ | consent | gdpr | ccpa | onetrust | privacy-?(?:banner|notice)
    | ads? | advert\w* | ad-?(?:slot|unit|box|container|wrapper|label|break) | adsbygoogle | dfp | banner-?ad
    | sponsor\w* | promo\w* | outbrain | taboola
    # Sharing, subscribing, signing in
    | shar(?:e|ing)(?:-\w+)* | social(?:-?\w+)* | addtoany | sharedaddy | follow-?us
    | newsletter(?:-?\w+)* | subscri\w+ | sign-?up | sign-?in | login | paywall | mailing-?list | donat\w+
    # Other pages
    | related(?:-?\w+)* | recommend(?:-?\w+)* | read-?(?:more|next) | more-?(?:stories|articles|posts|like)
    | you-?may-?(?:also-?)?like | trending | most-?read | up-?next | teaser-?list | carousel
    | cross-?sell | upsell
    | author-?(?:bio|box) | byline-?links | tags?-?(?:list|cloud|links) | post-?tags
    # Layers and controls
    | modal | pop-?up | lightbox | toast | tooltip | snackbar
    | copy-?(?:btn|button|code) | print-?(?:button|link)
    | rating-?widget | was-?this-?helpful | theme-?(?:switch|toggle)\w* | vote-?(?:buttons?|controls?)
    | comment-?(?:form|respond) | respond | reply-?link | user-?card-?menu | (?:user-?)?signature
    | (?:mw-)?edit-?(?:section|link) | edit-?(?:this-?)?page | edit-?on-?github
    | headerlink | permalink | anchor-?link | hash-?link
    # Not for readers
    | sr-?only | visually-?hidden | screen-?reader(?:-?text)? | no-?print | print-?only
    """,
    _FLAGS,
)
AMBIGUOUS = re.compile(
    # Also used for boxes with real text beside the main line of an article.
    r"sidebar | widget\w* | table-?of-?contents | (?:mini)?toc | banner | popular | feedback | overlay",
    _FLAGS,
)
AFFIXES = re.compile(
    r"""
    ^(?:js|is|has|[coulm]|block|wp|site|page|global|main|post|entry|article|the)-
    | -(?:\d+|wrapper|container|box|block|section|area|list|links?|bar|panel|inner|outer|content|items?)$
    """,
    _FLAGS,
)
NOTE = re.compile(
    r"\b(?:note|tip|info|warning|caution|important|danger|admonition|callout|notice|example)\b", _FLAGS
)
PHRASES = re.compile(
    r"""^(?:
    advertisement(?:[ ]*[-–][ ]*continue[ ]reading[ ]below)? | sponsored(?:[ ]content)?
    | story[ ]continues[ ]below(?:[ ]advertisement)? | click[ ]here[ ]to[ ].{0,60}
    | share(?:[ ]this)?(?:[ ](?:article|post|page|on[ ]\w+))* | tweet | like | follow[ ]us\b.{0,60}
    | (?:sign[ ]up|subscribe)\b.{0,80} | log[ ]?in | sign[ ]in
    | read[ ]more:? | related:? | \d+[ ]comments? | reply | report | quote
    | (?:all[ ]rights[ ]reserved|copyright[ ]©|©).{0,90}
    | (?:we|this[ ](?:web)?site)[ ]uses?[ ]cookies\b.{0,90} | accept[ ](?:all[ ])?cookies
    | skip[ ]to[ ](?:main[ ])?content | back[ ]to[ ]top | print[ ]this[ ]page | loading(?:\.\.\.|…)?
    | was[ ]this[ ](?:page|article)[ ]helpful\?.{0,20} | edit[ ](?:this[ ]page|on[ ]github)
    | (?:\d+[ ])?min(?:ute)?s?[ ]read | copy(?:[ ](?:code|link))?
    )\.?$""",
    _FLAGS,
)
ANCHORS = frozenset(
    ("", "¶", "#", "§", "🔗", "link", "[edit]", "edit", "permalink", "copy", "anchor", "⚓", "∞")
)
"""Texts of links that only point at their own place."""

_CONTROLS = listed(
    "nav footer menu form button input select textarea option optgroup fieldset dialog progress meter"
)
_ROLES = listed(
    "navigation banner contentinfo search complementary dialog alertdialog menu menubar toolbar "
    "tablist button status tooltip doc-pagebreak"
)
_PARTS = re.compile(r"__|--|[\s:]+")
_LINKED = 0.6
_LINKED_IF_NAMED = 0.3
_CHOSEN = 0.5
_KEEP = frozenset(("table", "pre", "figure", "math", "h1", "h2", "h3", "h4", "h5", "h6", "dl"))
_SHORT = 120


def prune(content: Content) -> None:
    """Remove boilerplate inside the content's root."""
    for element in list(content.root.iter()):
        if (
            element is not content.root
            and element.getparent() is not None
            and _is_boilerplate(element, content)
        ):
            remove(element)


def _is_boilerplate(element: Any, content: Content) -> bool:
    tag = element.tag
    measure = content.measures.get(element) or Measure()
    if tag == "a":
        return _is_anchor(element, measure)
    chosen = measure.text > 0 and measure.chosen >= measure.text * _CHOSEN
    if tag in _CONTROLS:
        return not (chosen and tag in ("footer", "form", "fieldset", "menu"))
    if element.get("role") in _ROLES:
        return not chosen
    if tag == "aside":
        return not chosen and not NOTE.search(element.get("class", ""))
    if tag in _KEEP:
        return False
    named = bool(element.attrib) and _is_named(element, NAMES)
    if chosen:
        return _is_phrase(element, measure) or (named and measure.linked > measure.text * _LINKED_IF_NAMED)
    if named:
        return not _has_content_inside(element, measure)
    if element.attrib and _is_named(element, AMBIGUOUS):
        return measure.text < _SHORT or measure.linked > measure.text * _LINKED_IF_NAMED
    return _is_link_list(element, measure, content) or _is_phrase(element, measure)


def _is_named(element: Any, names: re.Pattern[str]) -> bool:
    """True if a class or the id of the element is one of these names, by itself or with a usual affix."""
    given = (*element.get("class", "").split(), element.get("id", ""))
    return any(_matches(name, names) for name in given if name)


@lru_cache(maxsize=4096)
def _matches(name: str, names: re.Pattern[str]) -> bool:
    for part in (name, *_PARTS.split(name)):
        if names.fullmatch(part) or names.fullmatch(AFFIXES.sub("", part)):
            return True
    return False


def _has_content_inside(element: Any, measure: Measure) -> bool:
    """A name alone does not remove a large part of the page that holds chosen text."""
    return measure.chosen > 400 and measure.chosen > measure.text * 0.2


def _is_anchor(element: Any, measure: Measure) -> bool:
    """A link that only points at its own place."""
    text = "".join(element.itertext()).strip().lower()
    if text in ANCHORS:
        return element.find(".//img") is None
    return bool(element.attrib) and measure.text < 20 and _is_named(element, NAMES)


def _is_link_list(element: Any, measure: Measure, content: Content) -> bool:
    if element.tag not in ("ul", "ol", "div", "section", "p", "td", "table") or not content.chosen:
        return False
    if measure.chosen or measure.linked < measure.text * _LINKED or not measure.text:
        return False
    return not any(True for _ in element.iter(*_KEEP))


def _is_phrase(element: Any, measure: Measure) -> bool:
    """A short block that says what only boilerplate says."""
    if not 0 < measure.text <= _SHORT or element.tag in ("td", "th", "code", "dt", "dd", "caption"):
        return False
    if element.tag in ("span", "b", "strong", "em", "i", "time", "small"):
        return False
    return PHRASES.match(" ".join("".join(element.itertext()).split())) is not None
