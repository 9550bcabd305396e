"""Answers without pictures from elsewhere: a host that shows one tells its address, and what was put into that, to
whoever keeps it, and nobody has clicked. An agent that obeyed a page could send away in this way what it knows.
"""

import re

# A fenced block of code (spec.commonmark.org, 4.5), which nobody renders; what is no such block to us is text.
CODE_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^`\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
IMAGE_MARK = re.compile(r"!+(?=\[)")
LOADING_TAGS = (
    "img|image|picture|source|video|audio|iframe|object|embed|svg|link|style|script|input|meta|base|body|table|td"
)
LOADING_TAG = re.compile(rf"<(?=(?:{LOADING_TAGS})\b|[a-z][\w-]*[\s/][^<>]*=[^<>]*//[^<>]*>)", re.IGNORECASE)


def remove_images(text: str) -> str:
    """Markdown pictures become links, and HTML that would load something is shown as it is written."""
    parts, end = [], 0
    for fence in CODE_FENCE.finditer(text):
        parts += [_disarm_text(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join((*parts, _disarm_text(text[end:])))


def _disarm_text(text: str) -> str:
    return LOADING_TAG.sub("&lt;", IMAGE_MARK.sub("", text))
