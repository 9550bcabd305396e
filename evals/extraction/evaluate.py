"""Score the package, and other extractors, on a corpus.

    python -m evals.extraction.evaluate [--corpus FOLDER] [--with trafilatura] [--every 5] [--no-address] [--width 4]

The package's score on its own training corpus says nothing about other sites. The scores of grouped folds are in the
model's provenance, and `train.py --score-only` measures them again.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from evals.extraction.corpus import OWN_CORPUS, PAGE_TYPES, Sample, read_samples
from evals.extraction.metric import compute_f1, count_shingles

Extractor = Callable[[Sample, bytes], str]


def extract_with_outrider(sample: Sample, source: bytes) -> str:
    """Extract text with the package."""
    from outrider.pages.extraction.main_content import extract_main_content

    return extract_main_content(source, sample.url).text


def extract_with_trafilatura(sample: Sample, source: bytes) -> str:
    """Extract Markdown with metadata, links and tables with trafilatura."""
    import trafilatura as library

    return (
        library.extract(
            source, url=sample.url or None, output_format="markdown", with_metadata=True, include_links=True
        )
        or ""
    )


def extract_text_with_trafilatura(sample: Sample, source: bytes) -> str:
    """Extract text with trafilatura."""
    import trafilatura as library

    return library.extract(source, url=sample.url or None) or ""


EXTRACTORS: dict[str, Extractor] = {
    "ours": extract_with_outrider,
    "trafilatura": extract_with_trafilatura,
    "trafilatura_text": extract_text_with_trafilatura,
}


def measure_extractor(corpus: list[Sample], extractor: Extractor, width: int = 1) -> dict[str, float]:
    """Return mean F1, pages per CPU second, and the 95th percentile of milliseconds.

    F1 is that of words, or of runs of this many words.
    """
    scores: dict[str, list[float]] = {"all": []}
    times = []
    for sample in corpus:
        source = sample.read_html()
        start = time.process_time()
        text = extractor(sample, source)
        times.append(time.process_time() - start)
        value = compute_f1(count_shingles(text, width), count_shingles(sample.text, width))
        scores["all"].append(value)
        scores.setdefault(sample.type, []).append(value)
    found = {name: round(sum(scores[name]) / len(scores[name]), 4) for name in ("all", *PAGE_TYPES) if scores.get(name)}
    return found | {
        "pages_per_second": round(len(times) / sum(times), 1),
        "p95_ms": round(sorted(times)[int(len(times) * 0.95)] * 1_000, 1),
    }


def main() -> None:
    """Print one line of JSON for each extractor."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", type=Path, default=OWN_CORPUS)
    arguments.add_argument("--with", dest="others", action="append", default=[], choices=sorted(EXTRACTORS))
    arguments.add_argument("--no-address", action="store_true", help="as if no page's address were known")
    arguments.add_argument("--every", type=int, default=1, help="take each nth page only")
    arguments.add_argument("--width", type=int, default=1, help="words of a run that is compared; news benchmarks: 4")
    chosen = arguments.parse_args()
    corpus = list(read_samples(chosen.corpus))[:: chosen.every]
    if chosen.no_address:
        corpus = [replace(sample, url="") for sample in corpus]
    for name in ("ours", *chosen.others):
        found = measure_extractor(corpus, EXTRACTORS[name], chosen.width)
        print(json.dumps({"extractor": name, "pages": len(corpus), **found}), flush=True)


if __name__ == "__main__":
    main()
