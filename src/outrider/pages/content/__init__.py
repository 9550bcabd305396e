"""The main content of an HTML page, found by a learned classifier of blocks.

One walk over lexbor's tree cuts the page into blocks (`walk.py`), a few array operations describe
each (`features.py`), a small network says how likely each is content (`model.py`),
the cut is where the expected F1 is highest (`select.py`), and the kept blocks become Markdown
(`render.py`). `main.py` has the one entry.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy starts: matrices this small only wait for threads
