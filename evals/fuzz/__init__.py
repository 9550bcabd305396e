"""Fuzz everything that reads foreign documents.

    python -m evals.fuzz.run --minutes 60 --out found                   # all three targets in turns
    python -m evals.fuzz.run --target page --minutes 10 --out found     # content, page or document
    python -m evals.fuzz.run --target document --kind fb2 --kind msg    # documents of some kinds only
    python -m evals.fuzz.guided --target page found/seeds        # with atheris, guided by coverage

`run` mutates real pages and hand-made documents in a child process, which is replaced when it crashes or hangs. It
shrinks inputs that broke an invariant and writes them to the folder: `NAME-DIGEST.bin` with a `.txt` that describes the
problem. `guided` does the same, guided by coverage, if atheris is installed. Both are seeded. Fixed findings have small
tests in `tests/unit/pages/test_fuzz_findings.py`.
"""
