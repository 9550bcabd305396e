"""Compare content stores with bare engines: filling them, and searching by words and vectors.

The collection has 10,000 and 100,000 documents of one passage each in 200 stores (`OUTRIDER_BENCH_MILLION=1` adds a
million: an hour on two cores). CPU time, because the machine is shared.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping

from bench.peers import ROOT
from bench.tables import Comparison, Part

OURS = "outrider"
CONTENDERS = {OURS: "ours", "bare FTS5": "fts5", "bare tantivy": "tantivy"}


def run(*, quick: bool) -> Part:
    vector_method = (
        "Vectors have 384 dimensions. The ten nearest are found by sign bits and rescored exactly from rows of the "
        "database. This is compared with a scan of all vectors in memory"
    )
    method = (
        "Documents of about 800 characters, made of real sentences with a long tail of rare words, in 200 stores. "
        "Queries have three words of one document. Queries to a single store go to 20 stores in turn. The bare engines "
        "keep text and words in one table or index and do nothing else: no passages, languages other than English, "
        "filters, highlights, permissions or transactions across two places; tantivy works in one process only. A "
        "search in all 200 stores reads 200 files in Outrider and one in the others. A deleted store is unreachable "
        "at once; its rows are removed later, in steps for which other writers wait 20 ms."
    )
    million_variable = "OUTRIDER_BENCH_MILLION"
    store_count = 200
    counts = [1_000] if quick else [10_000, 100_000, *([1_000_000] if os.environ.get(million_variable) else [])]
    tables, remarks, near = [], [], [f"{vector_method}:\n"]
    for count in counts:
        stores = store_count if count > 1_000 else 10
        taken = {name: _run_worker("content_worker", worker, count, stores) for name, worker in CONTENDERS.items()}
        what = f"CPU milliseconds of a search in one of {stores} stores, {count:,} documents"
        tables.append(Comparison(what, OURS, {name: [each["one_p50_ms"]] for name, each in taken.items()}, digits=2))
        remarks.append(_render_measures(count, taken))
        near.append(_describe_vector_search(count, _run_worker("content_vectors", count)))
    return Part("Content stores", method, tables, "\n\n".join([*remarks, "\n".join(near)]))


def _render_measures(count: int, taken: Mapping[str, Mapping[str, float]]) -> str:
    """Render all measures of one collection."""
    # Measure, its unit as shown, and digits.
    measures = (
        ("one_p50_ms", "CPU ms of a search in one store, median", 2),
        ("one_p99_ms", "99 of 100", 2),
        ("all_p50_ms", "CPU ms of a search in all, median", 2),
        ("ingest_cpu_ms", "CPU ms to add a document", 2),
        ("add_find_ms", "ms to add one and find it", 0),
        ("delete_ms", "ms to delete a store", 0),
        ("sweep_ms", "ms to remove its rows afterwards", 0),
        ("size_mb", "MB on disk", 0),
        ("rss_mb", "MB of memory", 0),
    )
    names = [what for _, what, _ in measures]
    lines = [f"| {count:,} documents | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    for name, each in taken.items():
        lines.append(f"| {name} | {' | '.join(f'{each[key]:,.{digits}f}' for key, _, digits in measures)} |")
    return "\n".join(lines)


def _describe_vector_search(count: int, each: Mapping[str, float]) -> str:
    return (
        f"- {count:,}: {each['p50_ms']:.1f} ms CPU against {each['exact_ms']:.1f}, "
        f"{each['recall']:.1%} of the true ten, {each['codes_mb']:,.0f} MB of codes, {each['rss_mb']:,.0f} MB of memory"
    )


def _run_worker(module: str, *arguments: object) -> dict[str, float]:
    command = [sys.executable, "-m", f"bench.{module}", *map(str, arguments)]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
