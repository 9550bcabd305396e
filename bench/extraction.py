"""The main content of real pages as Markdown: how good, how fast, how large, beside other extractors."""

import base64
import json
import select
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from evals.extraction.corpus import OWN, TYPES, Sample, large, samples
from evals.extraction.metric import f1
from evals.structure.evaluate import GOALS, Judged, Page, own, scores
from evals.structure.facts import facts_of
from evals.structure.kept import bare, kept

from bench.figures import Measured, Part
from bench.peers import HERE, ROOT, node, node_command, python

OURS, YARDSTICK = "outrider.extract", "trafilatura"
EVERY = 5  # pages of the large corpus
FEW = 20  # pages of a quick run
TURNS = 5
STARTS = 5
LIMIT = 60.0  # seconds for a page; then it counts as empty and as this long
KINDS = {
    "code": "code", "rows": "table rows", "items": "list items", "headings": "headings", "links": "links",
    "math": "LaTeX",
}  # fmt: skip
KEPT = (
    "The share of the main content's structure that the Markdown keeps, as the mean over pages that have any. In "
    "brackets: the share of the structure inside the text that was extracted."
)
WRITTEN = "The same for pages that we wrote for this purpose (`evals/structure/pages`)."


@dataclass(frozen=True)
class Read:
    """What an extractor made of a page: CPU milliseconds, Markdown, and its words as F1 is taken of them."""

    ms: float
    markdown: str
    text: str


@dataclass
class Worker:
    """An extractor in a process of its own, which is started when it is first asked and again after a hang."""

    command: Sequence[str]
    peaks: list[float] = field(default_factory=list)
    _process: subprocess.Popen[bytes] | None = None

    def ready(self) -> float:
        """CPU seconds that a new process takes for its imports and a first small page."""
        process = subprocess.Popen(
            self.command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._process = process
        answer = self._answer()
        assert answer, f"{self.command} does not start"
        return answer["ready"]

    def read(self, html: bytes, url: str) -> Read:
        """One page."""
        if self._process is None:
            self.ready()
        self._send(json.dumps({"html": base64.b64encode(html).decode(), "url": url}))
        answer = self._answer()
        if answer is None:
            self.end()
            return Read(LIMIT * 1_000, "", "")
        markdown = answer["markdown"]
        return Read(answer["ms"], markdown, bare(markdown) if answer["text"] is None else answer["text"])

    def end(self) -> None:
        """Ends the process; notes the most memory that it had, if it still says so."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._send("")
            if answer := self._answer(5.0):
                self.peaks.append(answer["peak"])
        self._process.kill()
        self._process.wait()
        self._process = None

    def _send(self, line: str) -> None:
        assert self._process
        assert self._process.stdin
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def _answer(self, limit: float = LIMIT) -> dict[str, Any] | None:
        """The next line; None if it does not come in time or never will."""
        assert self._process
        assert self._process.stdout
        waiting, _, _ = select.select([self._process.stdout], [], [], limit)
        line = self._process.stdout.readline() if waiting else b""
        return json.loads(line) if line else None


def run(*, quick: bool) -> Part:
    folder = large()
    corpus = list(samples(folder or OWN))[:: EVERY if folder else 1]
    corpus = corpus[:: max(1, len(corpus) // FEW)] if quick else corpus
    contenders = workers()
    started = {name: [] for name in contenders}
    for _ in range(1 if quick else STARTS):
        for name, worker in contenders.items():
            started[name].append(worker.ready())
            worker.end()
            worker.peaks.clear()
    found = read_all(contenders, corpus, 1 if quick else TURNS)
    made = list(own())
    written = {name: [worker.read(page.html, page.url) for page in made] for name, worker in contenders.items()}
    for worker in contenders.values():
        worker.end()
    return part(corpus, contenders, started, found, _structure(made, written), small=not folder)


def workers() -> dict[str, Worker]:
    """Every contender that can run here."""
    script = str(HERE / "extraction_worker.py")
    found = {OURS: Worker([sys.executable, script, "outrider"])}
    for title, name in {
        YARDSTICK: "trafilatura",
        "readability-lxml, markdownify": "readability_lxml",
        "resiliparse (text only)": "resiliparse",
    }.items():
        found[title] = Worker([str(python() / "python"), script, name])
    modules, command = node(), node_command(".", "")
    if modules and command:
        for title, name in {
            "Readability, Turndown, linkedom": "readability-linkedom",
            "Readability, Turndown, jsdom": "readability-jsdom",
            "Defuddle": "defuddle",
        }.items():
            found[title] = Worker([command[0], str(HERE / "extraction_worker.cjs"), str(modules), name])
    return found


def read_all(contenders: dict[str, Worker], corpus: list[Sample], turns: int) -> dict[str, list[list[Read]]]:
    """Of each contender, of each turn, what it made of that turn's pages."""
    found: dict[str, list[list[Read]]] = {name: [] for name in contenders}
    for turn in range(turns):
        for name, worker in contenders.items():
            found[name].append([worker.read(sample.html(), sample.url) for sample in corpus[turn::turns]])
    return found


def part(
    corpus: list[Sample],
    contenders: dict[str, Worker],
    started: dict[str, list[float]],
    found: dict[str, list[list[Read]]],
    made: str,
    *,
    small: bool,
) -> Part:
    turns = len(next(iter(found.values())))
    order = [sample for turn in range(turns) for sample in corpus[turn::turns]]
    flat = {name: [read for turn in reads for read in turn] for name, reads in found.items()}
    where = "pages of our own" if small else "pages of the WCXB development split, on which our model was trained"
    real = [Page(s.id, s.url, b"", facts_of(s.html(), s.url, s.text)) for s in order]
    times = {name: sorted(read.ms for read in reads) for name, reads in flat.items()}
    return Part(
        "Main content",
        f"{len(corpus):,} {where}, from bytes to Markdown with metadata and links. Each extractor has its own process, "
        "and they take turns. CPU time is measured inside the processes, garbage collection included. A page that "
        f"takes more than {LIMIT:.0f} s counts as empty. *Ready* is the import in a new process, numpy included, with "
        "a first small page. F1 compares bags of words and is the mean over pages. It uses the extractor's own plain "
        "text (not timed), or its Markdown without addresses if it has no plain text.",
        [
            Measured("CPU milliseconds a page", YARDSTICK, _means(found), digits=1),
            Measured("CPU milliseconds, 95th percentile", YARDSTICK, _percentiles(times), digits=1),
            Measured(
                "peak memory, MB", YARDSTICK, {name: [max(worker.peaks)] for name, worker in contenders.items()}, 0
            ),
            Measured("CPU seconds until ready", YARDSTICK, started, digits=2),
        ],
        "\n\n".join([_speeds(flat), _quality(order, flat), KEPT, _structure(real, flat), WRITTEN, made]),
    )


def _means(found: dict[str, list[list[Read]]]) -> dict[str, list[float]]:
    return {name: [mean(read.ms for read in turn) for turn in turns] for name, turns in found.items()}


def _percentiles(times: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: [each[int(len(each) * 0.95)]] for name, each in times.items()}


def _table(head: Iterable[str], rows: Mapping[str, Iterable[str]]) -> str:
    lines = ["| | " + " | ".join(head) + " |"]
    lines.append("|---|" + "---:|" * (lines[0].count(" | ")))
    return "\n".join(lines + [f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items()])


def _speeds(flat: dict[str, list[Read]]) -> str:
    """Pages per CPU second against the yardstick's: more is better."""
    speed = {name: 1_000 / mean(read.ms for read in reads) for name, reads in flat.items()}
    rows = {name: (f"{each:,.1f}", f"{each / speed[YARDSTICK]:.2f}") for name, each in speed.items()}
    return _table(["pages per CPU second (more is better)", "ratio"], rows)


def _quality(order: list[Sample], flat: dict[str, list[Read]]) -> str:
    """F1 of each type of page."""
    types = [kind for kind in TYPES if any(sample.type == kind for sample in order)]

    def row(reads: list[Read]) -> list[str]:
        values = [f1(read.text, sample.text) for sample, read in zip(order, reads, strict=True)]
        of_type = [mean(v for v, sample in zip(values, order, strict=True) if sample.type == kind) for kind in types]
        return [f"{value:.3f}" for value in (mean(values), *of_type)]

    counts = [f"{kind} ({sum(sample.type == kind for sample in order)})" for kind in types]
    return _table(["F1 (more is better)", *counts], {name: row(reads) for name, reads in flat.items()})


def _structure(pages: list[Page], flat: dict[str, list[Read]]) -> str:
    """Shares of structure kept, and in brackets of what was extracted at all."""
    judged: dict[str, list[Judged]] = {
        name: [(page, kept(page.facts, read.markdown)) for page, read in zip(pages, reads, strict=True)]
        for name, reads in flat.items()
    }
    found = {name: scores(each) for name, each in judged.items()}
    kinds = [kind for kind in KINDS if kind in found[YARDSTICK]]
    rows = {name: [f"{each[kind].share:.2f} ({each[kind].form:.2f})" for kind in kinds] for name, each in found.items()}
    return _table([f"{KINDS[kind]}, goal {GOALS[kind]:.2f}" for kind in kinds], rows)
