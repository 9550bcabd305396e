"""Map the words of classes, ids and roles to category bits.

Class names use the same few English words in pages of every language, because they are written for programmers.
"""

import re

CATEGORIES: tuple[tuple[str, str], ...] = (
    ("content", "content contents maincontent text txt richtext rte wysiwyg markdown prose copy bodytext rtf mdx"),
    ("article", "article story articlebody storybody news longform newsarticle blogposting"),
    ("body", "body bd"),
    ("post", "post posts postcontent hentry blogpost entry entries blog postbody postcontent posting"),
    ("main", "main primary mainarea center centre"),
    ("comment", "comment comments disqus respond commentlist discussion replies reply annotation"),
    ("message", "message messages msg thread threads topic topics forum question answer answers qa bbs conversation"),
    ("nav", "nav navbar navigation menu menus submenu megamenu mainnav topnav subnav navi sitenav navlink navlinks"),
    ("crumb", "breadcrumb breadcrumbs crumb crumbs breadcrumblist"),
    ("header", "header head masthead topbar hd siteheader banner globalheader pageheader top"),
    ("footer", "footer foot bottom ft colophon sitefooter globalfooter pagefooter"),
    ("side", "sidebar side aside rail sidenav rightcol leftcol secondary complementary sidepanel right left"),
    ("widget", "widget widgets module block panel portlet"),
    (
        "related",
        (
            "related similar more recommended recommendation recommendations suggestions suggested also upnext"
            " readmore recirc recirculation upsell crosssell trending popular latest recent mostread next"
        ),
    ),
    ("share", "share sharing social socials facebook twitter linkedin pinterest whatsapp addthis sharethis follow"),
    (
        "ad",
        (
            "ad ads advert advertisement advertising sponsor sponsored promo promotion promos dfp gpt adsense"
            " outbrain taboola promotional adslot"
        ),
    ),
    ("consent", "cookie cookies consent gdpr onetrust privacy ccpa"),
    (
        "popup",
        (
            "modal popup overlay dialog lightbox drawer offcanvas tooltip toast popover flyout alert notification"
            " notice snackbar"
        ),
    ),
    ("subscribe", "newsletter subscribe subscription signup mailing optin mailchimp register login signin paywall"),
    ("author", "author byline bio writer contributor contributors avatar profile"),
    ("date", "date time timestamp published posted datetime pubdate dateline updated"),
    ("meta", "meta metadata info details detail infos stats postmeta entrymeta data"),
    ("tag", "tag tags category categories taxonomy label labels badge badges keywords chip chips pill topics"),
    ("title", "title headline heading heads subtitle subhead name deck dek standfirst lede kicker"),
    ("price", "price prices pricing amount cost currency sale discount"),
    ("product", "product products sku pdp item shopify woocommerce merchandise"),
    (
        "describe",
        (
            "description desc summary abstract intro excerpt overview specification specifications specs spec"
            " features about teaser blurb synopsis"
        ),
    ),
    ("review", "review reviews rating ratings stars testimonial testimonials feedback score"),
    ("buy", "cart buy checkout basket wishlist addtocart quantity purchase shipping swatch variant variants stock"),
    (
        "media",
        (
            "gallery image images img photo photos picture slider carousel slideshow swiper video videos player"
            " media slick thumb thumbnail thumbnails audio embed slide"
        ),
    ),
    ("caption", "caption figcaption figure credit legend"),
    ("code", "code highlight snippet codeblock syntax pre prism hljs sourcecode"),
    ("docs", "doc docs documentation document guide wiki manual reference api section sphinx rst mw"),
    ("toc", "toc tableofcontents contentslist outline anchor anchors jump jumplinks permalink headerlink"),
    ("search", "search searchbar searchbox filter filters facet facets sort sorting refine refinement searchform"),
    ("form", "form forms input field fieldset checkbox select dropdown option options wpcf7"),
    ("page", "pagination pager paging pagenav prev previous paginate pages"),
    ("hero", "hero jumbotron splash cover intro"),
    ("card", "card cards tile tiles teaser grid masonry cell box"),
    ("list", "list lists listing listings results result items collection collections row rows feed archive table"),
    ("skip", "skip hidden hide sr sronly visuallyhidden screenreader invisible offscreen noprint collapse assistive"),
    ("legal", "copyright legal terms disclaimer credits license policy licence"),
    ("faq", "faq faqs accordion toggle collapsible tab tabs tabpanel tabcontent"),
    ("action", "cta button btn buttons actions action toolbar tools controls control link links"),
    ("user", "user users member username userinfo poster postprofile account userdetails usertitle"),
    ("vote", "vote votes like likes karma points reactions reaction upvote counter count"),
    ("signature", "signature sig edited quoted attribution quote blockquote bbcode"),
    ("wrap", "wrap wrapper container inner outer holder column col columns region area layout"),
    ("service", "service services benefit benefits feature solution solutions step steps value values why"),
    ("place", "address location contact phone map hours email tel contacts directions"),
)
WORD_BITS: dict[str, int] = {}
for _bit, (_, _words) in enumerate(CATEGORIES):
    for _word in _words.split():
        WORD_BITS[_word] = WORD_BITS.get(_word, 0) | 1 << _bit
CATEGORY_COUNT = len(CATEGORIES)
ROLE_CATEGORIES = {
    "navigation": "nav", "main": "main", "contentinfo": "footer", "banner": "header", "complementary": "side",
    "search": "search", "dialog": "popup", "alertdialog": "popup", "menu": "nav", "menubar": "nav",
    "article": "article", "tablist": "faq", "tabpanel": "faq", "toolbar": "action", "alert": "popup",
    "form": "form", "listbox": "form", "button": "action", "tooltip": "popup",
}  # fmt: skip
CATEGORY_NUMBERS = {name: bit for bit, (name, _) in enumerate(CATEGORIES)}
ROLE_BITS = {role: 1 << CATEGORY_NUMBERS[name] for role, name in ROLE_CATEGORIES.items()}
NAME_PART_PATTERN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\dA-Za-z_]+")
# Turns everything but lower-case ASCII letters into spaces.
LOWERCASE_SEPARATORS = bytes(code if chr(code).islower() else 32 for code in range(128)) + bytes(128)
MAX_CLASS_CHARS = 300  # further characters of a class attribute are ignored
MAX_CACHED_NAMES = 2_000  # enough for the pages of one site, and sites share few names

# Plain values wherever possible: caching anything else for each page triggers Python's garbage collector.
_bits_by_attribute: dict[str, int] = {}
_bits_by_name: dict[str, int] = {}
_words_by_name: dict[str, list[str]] = {}


def categorize_names(names: str) -> int:
    """Return the category bits of the words in a class or id attribute."""
    bits = _bits_by_attribute.get(names)
    if bits is not None:
        return bits
    if len(names) > MAX_CLASS_CHARS:
        return categorize_names(names[:MAX_CLASS_CHARS])
    if len(_bits_by_attribute) > MAX_CACHED_NAMES:
        _bits_by_attribute.clear()
    bits = 0
    for name in names.split():
        known = _bits_by_name.get(name)
        bits |= _analyze_name(name)[1] if known is None else known
    _bits_by_attribute[names] = bits
    return bits


def categorize_role(name: str) -> int:
    """Return the category bit of an ARIA role."""
    return ROLE_BITS.get(name.strip().lower(), 0)


def split_class_name(name: str) -> list[str]:
    """Return the distinct lower-case words of a class or id.

    A name of several words ends with all of them joined into one.
    """
    known = _words_by_name.get(name)
    return _analyze_name(name)[0] if known is None else known


def _analyze_name(name: str) -> tuple[list[str], int]:
    """Return the words of one name and their category bits, and remember both.

    Another thread may clear the caches at any time, so callers must not rely on them.
    """
    if len(_words_by_name) > MAX_CACHED_NAMES:
        _words_by_name.clear()
        _bits_by_name.clear()
    bits, is_plain = WORD_BITS.get(name, 0), name.islower() and name.isascii()
    if is_plain and name.isalpha():
        words = [name]
    else:
        if is_plain:
            words = name.encode().translate(LOWERCASE_SEPARATORS).decode().split()
        else:
            words = [part.lower() for part in NAME_PART_PATTERN.findall(name)]
        for word in words:
            if word in WORD_BITS:
                bits |= WORD_BITS[word]
        if len(words) > 1:
            joined = "".join(words)
            words = [*dict.fromkeys(words), joined]
            if joined in WORD_BITS and joined == name.replace("_", "").replace("-", "").lower():
                bits |= WORD_BITS[joined]
    _words_by_name[name], _bits_by_name[name] = words, bits
    return words, bits
