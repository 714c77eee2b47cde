"""The names that sites give to their boilerplate, and what short blocks of boilerplate say."""

from __future__ import annotations

import re

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
