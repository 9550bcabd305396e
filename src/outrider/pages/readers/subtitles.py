"""Read subtitles as paragraphs of whole sentences with their start times.

SubRip, WebVTT (w3.org/TR/webvtt1), SubStation Alpha, YouTube's SBV and TTML (w3.org/TR/ttml2).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from outrider.pages.document import Document, to_single_line
from outrider.pages.mime.html_tokens import HtmlTag, iter_tokens
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.draft import DocumentDraft

CLOCK_PATTERN = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
TIMES_LINE = re.compile(rf"^[ \t]*{CLOCK_PATTERN}[ \t]*-->[ \t]*{CLOCK_PATTERN}")
CLOCK_TIME = re.compile(r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2})(?:[.:](\d{1,3}))?")
OFFSET_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(h|m|s|ms|t|f)")
SBV_TIMES = re.compile(r"^(\d{1,2}:\d{2}:\d{2}\.\d{1,3}),(\d{1,2}:\d{2}:\d{2}\.\d{1,3})[ \t]*$", re.MULTILINE)
SSA_HEADER = re.compile(r"^\s*\[Script Info\]", re.IGNORECASE)
TTML_ROOT = re.compile(r"<(?:\w{1,20}:)?tt[\s>]")
VOICE_TAG = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]{1,100})>", re.IGNORECASE)
STYLE_TAG = re.compile(r"</?[a-zA-Z0-9][^<>]{0,200}>|\{\\[^{}]{0,100}\}")
SETTING_LINE = re.compile(r"^(Kind|Language|Title):\s*(.+)$", re.IGNORECASE | re.MULTILINE)
SENTENCE_END = re.compile(r"""[.!?…。！？؟]["'”’»)\]]*$""")


@dataclass(frozen=True, slots=True)
class Cue:
    """Text shown between two times, in seconds."""

    start: float
    end: float
    text: str


def read_subtitles(source: ReaderInput) -> Document:
    """Return the cues joined to paragraphs, each with its time.

    Text without cues is shown unchanged. Never raises.
    """
    text = source.text.replace("\r\n", "\n").replace("\r", "\n")
    draft = DocumentDraft(source, "subtitles")
    if "ttml" in source.content_type or TTML_ROOT.search(text[:2_000]):
        parsed = _parse_ttml(text, source.max_tags)
    elif SSA_HEADER.search(text[:2_000]):
        parsed = _parse_ssa(text)
    else:
        parsed = _parse_srt(SBV_TIMES.sub(r"\1 --> \2", text))
    cues: list[Cue] = []
    previous: list[str] = []
    for cue in parsed:
        lines = [line for line in cue.text.split("\n") if line]
        fresh = [line for line in lines if line not in previous]  # live captions repeat lines in the next cue
        previous = lines
        if fresh:
            cues.append(Cue(cue.start, cue.end, " ".join(fresh)))
    for start, paragraph in _join_paragraphs(cues):
        minutes, seconds = divmod(int(start), 60)
        draft.add_block(f"[{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}] {paragraph}")
    if not cues:
        draft.add_block(text)
    draft.is_cut = draft.is_cut or source.is_cut
    facts = {name.lower(): value for name, value in SETTING_LINE.findall(text.partition("-->")[0][:2_000])}
    duration_s = round(max((cue.end for cue in cues), default=0))
    return draft.build_document(facts, metadata={"cues": len(cues), "seconds": duration_s})


def _parse_ssa(text: str) -> Iterator[Cue]:
    """Yield SubStation Alpha cues; the line `Format` names the fields, and the last is the text."""
    names: list[str] = []
    for line in text.partition("[Events]")[2].split("\n"):
        kind, _, rest = line.partition(":")
        if kind.strip().lower() == "format":
            names = [name.strip().lower() for name in rest.split(",")]
        elif kind.strip().lower() == "dialogue" and names:
            fields = dict(zip(names, rest.split(",", len(names) - 1), strict=False))
            start, end = (CLOCK_TIME.match(fields.get(name, "").strip()) for name in ("start", "end"))
            if start and end:
                words = fields.get("text", "").replace("\\N", "\n").replace("\\n", "\n").replace("\\h", " ")
                yield Cue(_to_seconds(start, 1), _to_seconds(end, 1), _strip_markup(words.split("\n")))


def _parse_ttml(text: str, tags: int) -> Iterator[Cue]:
    """Yield TTML paragraphs that have a start time."""
    start = end = 0.0
    pieces: list[str] | None = None
    for token in iter_tokens(text, max_tags=tags, xml=True):
        if not isinstance(token, HtmlTag):
            if pieces is not None:
                pieces.append(token.text)
            continue
        name = token.name.rpartition(":")[2]
        if name == "br" and pieces is not None:
            pieces.append(" ")
        elif name == "p":
            if pieces is not None:
                yield Cue(start, end, " ".join("".join(pieces).split()))
            pieces = None if token.closing or not token.get("begin") else []
            if pieces is not None:
                start = _parse_time(token.get("begin"))
                end = _parse_time(token.get("end")) or start + _parse_time(token.get("dur"))


def _parse_time(time: str) -> float:
    """Return the seconds of a TTML time (section 12.3), a clock or a number with its unit; 0 if neither."""
    # Ticks of 100 ns are what players assume if the file names no tick rate.
    unit_seconds = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "t": 1e-7}
    if clock := CLOCK_TIME.match(time.replace(",", ".")):
        return _to_seconds(clock, 1)
    offset = OFFSET_TIME.match(time)
    return float(offset[1]) * unit_seconds.get(offset[2], 0.0) if offset else 0.0


def _parse_srt(text: str) -> Iterator[Cue]:
    """Yield the cues in order; a block begins at its line of times, lines before that are its name."""
    block: list[str] = []
    times: re.Match[str] | None = None
    for line in [*text.split("\n"), ""]:
        next_times = TIMES_LINE.match(line[:200])
        if next_times or not line.strip():
            if times and block:
                yield Cue(_to_seconds(times, 1), _to_seconds(times, 5), _strip_markup(block))
            block, times = [], next_times
        elif times:
            block.append(line)


def _join_paragraphs(cues: list[Cue]) -> Iterator[tuple[float, str]]:
    max_chars = 900  # a paragraph ends at the first cue past this length
    soft_max_chars = 400  # past this length it ends with its sentence
    min_pause_s = 4.0  # a longer silence also ends it
    pieces: list[str] = []
    start, size = 0.0, 0
    for at, cue in enumerate(cues):
        start = start if pieces else cue.start
        pieces.append(cue.text)
        size += len(cue.text) + 1
        pause = at + 1 == len(cues) or cues[at + 1].start - cue.end > min_pause_s
        if pause or size > max_chars or (size > soft_max_chars and SENTENCE_END.search(cue.text[-20:])):
            yield start, " ".join(pieces)
            pieces, size = [], 0


def _strip_markup(lines: list[str]) -> str:
    """Return the words with the speakers' names, without styles and positions."""
    named = (VOICE_TAG.sub(lambda voice: f"{to_single_line(voice[1], 60)}: ", line) for line in lines)
    text = "\n".join(" ".join(STYLE_TAG.sub("", line).split()) for line in named)
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&amp;", "&")):
        text = text.replace(entity, char)
    return text.strip()


def _to_seconds(times: re.Match[str], group: int) -> float:
    """Return the seconds of the clock whose four groups begin at `group`."""
    hours, minutes, seconds, fraction = times.group(group, group + 1, group + 2, group + 3)
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int((fraction or "0").ljust(3, "0")) / 1000


SUBTITLE_TYPES = (
    "application/x-subrip", "text/vtt", "text/srt", "application/x-srt", "text/x-ssa", "text/x-sbv",
    "application/ttml+xml", "application/ttaf+xml",
)  # fmt: skip
SUBTITLE_SUFFIXES = (".srt", ".vtt", ".ass", ".ssa", ".sbv", ".ttml", ".dfxp")
reader = DocumentReader("subtitles", SUBTITLE_TYPES, read_subtitles, suffixes=SUBTITLE_SUFFIXES)
