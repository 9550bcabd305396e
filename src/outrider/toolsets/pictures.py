"""Answers without pictures from elsewhere: a host that shows one tells its address, and what was put into that, to
whoever keeps it, and nobody has clicked. An agent that obeyed a page could send away in this way what it knows.
"""

import re

# A fenced block of code (spec.commonmark.org, 4.5), which nobody renders; what is no such block to us is text.
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^`\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!+(?=\[)")
LOADS = "img|image|picture|source|video|audio|iframe|object|embed|svg|link|style|script|input|meta|base|body|table|td"
TAG = re.compile(rf"<(?=(?:{LOADS})\b|[a-z][\w-]*[\s/][^<>]*=[^<>]*//[^<>]*>)", re.IGNORECASE)


def without_pictures(text: str) -> str:
    """Markdown pictures become links, and HTML that would load something is shown as it is written."""
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [_tamed(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join((*parts, _tamed(text[end:])))


def _tamed(text: str) -> str:
    return TAG.sub("&lt;", PICTURE.sub("", text))
