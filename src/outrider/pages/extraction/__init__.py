"""The main content of an HTML page, found by a learned classifier of blocks.

The folders are its stages, in the order of a page's way: `parsing` makes a source safe for the parser, `walking` cuts
lexbor's tree into blocks, `metadata` reads what the page says about itself, `judging` tells which blocks are content,
`writing` makes text and Markdown of them. `main.py` has the one entry.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy starts: matrices this small only wait for threads
