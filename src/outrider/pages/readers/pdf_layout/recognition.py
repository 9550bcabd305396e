"""Recognize the text of pages that are pictures.

RapidOCR (the extra `ocr`) or the system's Tesseract does it.

Pages are drawn by PDFium, so neither program sees the file. Both run in the process that reads the document, or below
it, and end with it.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from math import ceil
from pathlib import Path
from statistics import median_low
from typing import Any

from outrider.core.onnx_telemetry import disable_onnx_telemetry
from outrider.pages.readers.pdf_layout.line import PdfCell, PdfLine

MIN_SCORE = 0.5  # of 1, the certainty of a line or word


@dataclass(frozen=True, slots=True)
class RecognizedText:
    """Text and its rectangle in pixels from the picture's upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


# Reads a picture, an array of gray, within some seconds; also returns whether all of it was read.
Recognize = Callable[[Any, float], tuple[list[RecognizedText], bool]]


@lru_cache(maxsize=1)
def find_recognizer() -> Recognize | None:
    """Return the extra's recognizer, else the system's, else None."""
    return _load_rapidocr() or find_tesseract()


def recognize_page(page: Any, recognize: Recognize, time_limit_s: float) -> tuple[list[PdfLine], bool]:
    """Return the lines recognized on a page, and whether time sufficed.

    The page is one of pypdfium2.
    """
    max_picture_side_px = 2_000
    usual_scale = 150 / 72  # enough to read type of 8 points
    min_ink = 230  # of 255; a page without anything darker is blank
    width, top = page.get_size()  # as displayed, after rotation
    scale = min(usual_scale, max_picture_side_px / max(width, top, 1))
    picture = page.render(scale=scale, grayscale=True, draw_annots=False).to_numpy()
    picture = picture.reshape(picture.shape[:2])
    if picture.min() > min_ink:
        return [], True
    found, is_complete = recognize(picture, time_limit_s)
    height = median_low(text.bottom - text.top for text in found) if found else 0
    lines: list[PdfLine] = []
    for text in found:
        # Rectangles differ by the letters' shapes, so only much larger ones mean another size.
        own = text.bottom - text.top
        size = (own if own > 1.45 * height else height) / scale * 0.75
        cell = PdfCell(text.text, text.left / scale, text.right / scale)
        lines.append(PdfLine((cell,), top - text.bottom / scale, top - text.top / scale, round(size, 1)))
    return lines, is_complete


def _load_rapidocr() -> Recognize | None:
    """Return a function that uses RapidOCR with the models of its wheel; none are fetched."""
    spec = find_spec("rapidocr")
    folder = Path(spec.origin).parent / "models" if spec and spec.origin else Path()
    paths = {name: next(iter(sorted(folder.glob(f"*_{name}_*.onnx"))), None) for name in ("det", "rec", "cls")}
    if not spec or None in paths.values():
        return None
    settings: dict[str, Any] = {f"{name.title()}.model_path": str(path) for name, path in paths.items()}
    settings |= {"Global.use_cls": False, "Global.log_level": "error"}
    settings |= {
        f"EngineConfig.onnxruntime.{kind}_op_num_threads": count for kind, count in (("intra", 2), ("inter", 1))
    }
    disable_onnx_telemetry()
    try:
        from rapidocr import RapidOCR

        engine: Any = RapidOCR(params=settings)
    except (ImportError, OSError, RuntimeError, ValueError, KeyError):
        return None

    def recognize(picture: Any, time_limit_s: float) -> tuple[list[RecognizedText], bool]:
        ends_at = time.monotonic() + time_limit_s
        picture = picture[:, :, None].repeat(3, axis=2)
        boxes = engine(picture, use_det=True, use_cls=False, use_rec=False).boxes
        texts: list[RecognizedText] = []
        for corners in boxes if boxes is not None else ():
            if time.monotonic() > ends_at:  # line by line, because nothing else can stop it
                return texts, False
            xs, ys = [max(0.0, float(x)) for x, _ in corners], [max(0.0, float(y)) for _, y in corners]
            part = picture[int(min(ys)) : ceil(max(ys)), int(min(xs)) : ceil(max(xs))]
            read = engine(part, use_det=False, use_cls=False, use_rec=True) if part.size else None
            if read is not None and read.txts and read.scores[0] >= MIN_SCORE and read.txts[0].strip():
                texts.append(RecognizedText(" ".join(read.txts[0].split()), min(xs), min(ys), max(xs), max(ys)))
        return texts, True

    return recognize


def find_tesseract() -> Recognize | None:
    """Return a function that runs Tesseract with all languages that it has, four at most."""
    max_languages, max_page_s = 4, 300
    environment = dict(os.environ) | {"OMP_THREAD_LIMIT": "1"}  # more threads are slower, by Tesseract's own advice
    program = shutil.which("tesseract")
    if not program:
        return None
    try:
        listed = subprocess.run([program, "--list-langs"], capture_output=True, timeout=10, check=True)  # noqa: S603 - on the path
    except (OSError, subprocess.SubprocessError):
        return None
    names = [line.strip() for line in listed.stdout.decode(errors="replace").splitlines()[1:]]
    languages = [name for name in names if name and name not in ("osd", "equ")][:max_languages]
    command = [program, "stdin", "stdout", "-l", "+".join(languages), "--dpi", "150", "tsv"]

    def recognize(picture: Any, time_limit_s: float) -> tuple[list[RecognizedText], bool]:
        height, width = picture.shape
        body = b"P5 %d %d 255\n" % (width, height) + picture.tobytes()
        try:
            run = subprocess.run(  # noqa: S603 - as above
                command,
                input=body,
                capture_output=True,
                timeout=min(time_limit_s, max_page_s),
                check=True,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            return [], False
        except (OSError, subprocess.SubprocessError):
            return [], True
        return list(_read_tesseract_table(run.stdout.decode(errors="replace"))), True

    return recognize if languages else None


def _read_tesseract_table(table: str) -> Iterator[RecognizedText]:
    """Yield the parts of lines between wide gaps from Tesseract's table of words."""
    min_gap_em = 1.2
    lines: dict[tuple[str, ...], list[RecognizedText]] = {}
    for row in table.splitlines()[1:]:
        cells = row.split("\t", 11)
        if len(cells) < 12 or not cells[11].strip() or float(cells[10]) < 100 * MIN_SCORE:
            continue
        left, top, width, height = map(float, cells[6:10])
        word = RecognizedText(cells[11].strip(), left, top, left + width, top + height)
        lines.setdefault(tuple(cells[1:5]), []).append(word)
    for words in lines.values():
        gap = min_gap_em * median_low(word.bottom - word.top for word in words)
        starts = [0, *(at for at in range(1, len(words)) if words[at].left - words[at - 1].right > gap), len(words)]
        for start, end in pairwise(starts):
            part = words[start:end]
            yield RecognizedText(
                " ".join(word.text for word in part),
                part[0].left,
                min(word.top for word in part),
                part[-1].right,
                max(word.bottom for word in part),
            )
