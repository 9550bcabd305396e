"""Extract a page's main content with a learned classifier of blocks.

A page passes through these folders in order: `parse` makes the source safe for the parser, `blocks` cuts the tree into
blocks, `metadata` reads what the page declares, `classify` selects the content, and `markdown` writes it.
`main_content.py` has the entry point.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy starts: matrices this small only wait for threads
