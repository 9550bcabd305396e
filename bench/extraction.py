"""Compare extractors of main content: quality, speed and memory."""

import base64
import json
import select
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from evals.extraction.corpus import OWN_CORPUS, PAGE_TYPES, Sample, find_large_corpus, read_samples
from evals.extraction.metric import compute_f1
from evals.structure.evaluate import GOAL_SHARES, Judged, StructuredPage, compute_scores, read_own_pages
from evals.structure.facts import derive_facts
from evals.structure.judge import judge_facts, strip_markdown

from bench.peers import BENCH_FOLDER, ROOT, build_node_command, install_node_peers, install_python_peers
from bench.tables import Comparison, Part

OUTRIDER_EXTRACT, BASELINE = "outrider.extract", "trafilatura"
PAGE_TIMEOUT_S = 60.0  # per page; a page that takes longer counts as empty and as taking this long


OWN_PAGES_METHOD = "The same for pages that we wrote for this purpose (`evals/structure/pages`)."
STRUCTURE_METHOD = (
    "The share of the main content's structure that the Markdown keeps, as the mean over pages that have any. In "
    "brackets: the share of the structure inside the text that was extracted."
)


@dataclass(frozen=True)
class Extraction:
    """A page's extraction: CPU milliseconds, Markdown, and the words that F1 compares."""

    ms: float
    markdown: str
    text: str


@dataclass
class ExtractorProcess:
    """Run an extractor in a process, started when needed and restarted after a hang."""

    command: Sequence[str]
    peaks: list[float] = field(default_factory=list)
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Start a process; returns the CPU seconds for its imports and a first small page."""
        process = subprocess.Popen(
            self.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._process = process
        answer = self._read_answer()
        assert answer, f"{self.command} does not start"
        return answer["ready"]

    def extract_page(self, html: bytes, url: str) -> Extraction:
        """Extract one page."""
        if self._process is None:
            self.start()
        self._send_line(json.dumps({"html": base64.b64encode(html).decode(), "url": url}))
        answer = self._read_answer()
        if answer is None:
            self.stop()
            return Extraction(PAGE_TIMEOUT_S * 1_000, "", "")
        markdown = answer["markdown"]
        return Extraction(
            answer["ms"], markdown, strip_markdown(markdown) if answer["text"] is None else answer["text"]
        )

    def stop(self) -> None:
        """Stop the process, and record its peak memory if it answers."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._send_line("")
            if answer := self._read_answer(5.0):
                self.peaks.append(answer["peak"])
        self._process.kill()
        self._process.wait()
        self._process = None

    def _send_line(self, line: str) -> None:
        assert self._process
        assert self._process.stdin
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def _read_answer(self, limit: float = PAGE_TIMEOUT_S) -> dict[str, Any] | None:
        """Return the next line, or None if it does not come in time."""
        assert self._process
        assert self._process.stdout
        waiting, _, _ = select.select([self._process.stdout], [], [], limit)
        line = self._process.stdout.readline() if waiting else b""
        return json.loads(line) if line else None


def run(*, quick: bool) -> Part:
    start_count = 5
    turn_count = 5
    quick_pages = 20  # pages of a quick run
    corpus_step = 5  # pages of the large corpus
    folder = find_large_corpus()
    corpus = list(read_samples(folder or OWN_CORPUS))[:: corpus_step if folder else 1]
    corpus = corpus[:: max(1, len(corpus) // quick_pages)] if quick else corpus
    contenders = build_contenders()
    started = {name: [] for name in contenders}
    for _ in range(1 if quick else start_count):
        for name, worker in contenders.items():
            started[name].append(worker.start())
            worker.stop()
            worker.peaks.clear()
    found = extract_all(contenders, corpus, 1 if quick else turn_count)
    made = list(read_own_pages())
    written = {name: [worker.extract_page(page.html, page.url) for page in made] for name, worker in contenders.items()}
    for worker in contenders.values():
        worker.stop()
    return build_part(corpus, contenders, started, found, _render_structure(made, written), small=not folder)


def build_contenders() -> dict[str, ExtractorProcess]:
    """Build the contenders that can run here."""
    script = str(BENCH_FOLDER / "extraction_worker.py")
    found = {OUTRIDER_EXTRACT: ExtractorProcess([sys.executable, script, "outrider"])}
    for title, name in {
        BASELINE: "trafilatura",
        "readability-lxml, markdownify": "readability_lxml",
        "resiliparse (text only)": "resiliparse",
    }.items():
        found[title] = ExtractorProcess([str(install_python_peers() / "python"), script, name])
    modules, command = install_node_peers(), build_node_command(".", "")
    if modules and command:
        for title, name in {
            "Readability, Turndown, linkedom": "readability-linkedom",
            "Readability, Turndown, jsdom": "readability-jsdom",
            "Defuddle": "defuddle",
        }.items():
            found[title] = ExtractorProcess(
                [command[0], str(BENCH_FOLDER / "extraction_worker.cjs"), str(modules), name]
            )
    return found


def extract_all(
    contenders: dict[str, ExtractorProcess], corpus: list[Sample], turns: int
) -> dict[str, list[list[Extraction]]]:
    """Return, for each contender and turn, the extractions of that turn's pages."""
    found: dict[str, list[list[Extraction]]] = {name: [] for name in contenders}
    for turn in range(turns):
        for name, worker in contenders.items():
            found[name].append([worker.extract_page(sample.read_html(), sample.url) for sample in corpus[turn::turns]])
    return found


def build_part(
    corpus: list[Sample],
    contenders: dict[str, ExtractorProcess],
    started: dict[str, list[float]],
    found: dict[str, list[list[Extraction]]],
    made: str,
    *,
    small: bool,
) -> Part:
    turns = len(next(iter(found.values())))
    order = [sample for turn in range(turns) for sample in corpus[turn::turns]]
    flat = {name: [read for turn in reads for read in turn] for name, reads in found.items()}
    where = "pages of our own" if small else "pages of the WCXB development split, on which our model was trained"
    real = [StructuredPage(s.id, s.url, b"", derive_facts(s.read_html(), s.url, s.text)) for s in order]
    times = {name: sorted(read.ms for read in reads) for name, reads in flat.items()}
    peaks = {name: [max(worker.peaks)] for name, worker in contenders.items()}
    return Part(
        "Main content",
        f"{len(corpus):,} {where}, from bytes to Markdown with metadata and links. Each extractor has its own "
        "process, and they take turns. CPU time is measured inside the processes, garbage collection included. A page "
        f"that takes more than {PAGE_TIMEOUT_S:.0f} s counts as empty. *Ready* is the time to import everything in a "
        "new process and to extract a first small page. F1 compares bags of words and is the mean over pages. It uses "
        "the extractor's own plain text (not timed), or its Markdown without addresses if it has none.",
        [
            Comparison("CPU milliseconds a page", BASELINE, _compute_means(found), digits=1),
            Comparison("CPU milliseconds, 95th percentile", BASELINE, _compute_percentiles(times), digits=1),
            Comparison("peak memory, MB", BASELINE, peaks, 0),
            Comparison("CPU seconds until ready", BASELINE, started, digits=2),
        ],
        "\n\n".join(
            [
                _render_speeds(flat),
                _render_f1(order, flat),
                STRUCTURE_METHOD,
                _render_structure(real, flat),
                OWN_PAGES_METHOD,
                made,
            ]
        ),
    )


def _compute_means(found: dict[str, list[list[Extraction]]]) -> dict[str, list[float]]:
    return {name: [mean(read.ms for read in turn) for turn in turns] for name, turns in found.items()}


def _compute_percentiles(times: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: [each[int(len(each) * 0.95)]] for name, each in times.items()}


def _render_table(head: Iterable[str], rows: Mapping[str, Iterable[str]]) -> str:
    lines = ["| | " + " | ".join(head) + " |"]
    lines.append("|---|" + "---:|" * (lines[0].count(" | ")))
    return "\n".join(lines + [f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items()])


def _render_speeds(flat: dict[str, list[Extraction]]) -> str:
    """Render pages per CPU second and their ratio to the baseline; more is better."""
    speed = {name: 1_000 / mean(read.ms for read in reads) for name, reads in flat.items()}
    rows = {name: (f"{each:,.1f}", f"{each / speed[BASELINE]:.2f}") for name, each in speed.items()}
    return _render_table(["pages per CPU second (more is better)", "ratio"], rows)


def _render_f1(order: list[Sample], flat: dict[str, list[Extraction]]) -> str:
    """Render F1 for each type of page."""
    types = [kind for kind in PAGE_TYPES if any(sample.type == kind for sample in order)]

    def format_row(reads: list[Extraction]) -> list[str]:
        values = [compute_f1(read.text, sample.text) for sample, read in zip(order, reads, strict=True)]
        of_type = [mean(v for v, sample in zip(values, order, strict=True) if sample.type == kind) for kind in types]
        return [f"{value:.3f}" for value in (mean(values), *of_type)]

    counts = [f"{kind} ({sum(sample.type == kind for sample in order)})" for kind in types]
    return _render_table(["F1 (more is better)", *counts], {name: format_row(reads) for name, reads in flat.items()})


def _render_structure(pages: list[StructuredPage], flat: dict[str, list[Extraction]]) -> str:
    """Render the kept shares of structure; in brackets, relative to extracted content."""
    structure_titles = {
        "code": "code", "rows": "table rows", "items": "list items", "headings": "headings", "links": "links",
        "math": "LaTeX",
    }  # fmt: skip
    judged: dict[str, list[Judged]] = {
        name: [(page, judge_facts(page.facts, read.markdown)) for page, read in zip(pages, reads, strict=True)]
        for name, reads in flat.items()
    }
    found = {name: compute_scores(each) for name, each in judged.items()}
    kinds = [kind for kind in structure_titles if kind in found[BASELINE]]
    rows = {name: [f"{each[kind].share:.2f} ({each[kind].form:.2f})" for kind in kinds] for name, each in found.items()}
    return _render_table([f"{structure_titles[kind]}, goal {GOAL_SHARES[kind]:.2f}" for kind in kinds], rows)
