"""Choose the pictures of tool results that agents see.

They are saved with the step as base64, so that the run can continue in another process. Anthropic takes at most 5 MB of
base64 and 8,000 pixels a side (platform.claude.com/docs/en/build-with-claude/vision), OpenAI and Gemini take more.
"""

import base64
import struct
from collections.abc import Mapping, Sequence

from outrider.core.result import ImageBlock, ResultBlock

MAX_PICTURE_BYTES = 1_500_000
MAX_SIDE_PX = 8_000
PICTURE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def explain_hidden_pictures(content: Sequence[ResultBlock], *, sees_pictures: bool) -> dict[int, str]:
    """Explain hidden pictures of a result, by their content index."""
    max_result_pictures = 4
    reasons: dict[int, str] = {}
    shown_count = 0
    for index, block in enumerate(content):
        if not isinstance(block, ImageBlock):
            continue
        reason = _explain_hidden(block, sees_pictures=sees_pictures)
        if not reason and shown_count == max_result_pictures:
            reason = f"a result shows at most {max_result_pictures}"
        if reason:
            reasons[index] = reason
        shown_count += not reason
    return reasons


def collect_pictures(content: Sequence[ResultBlock], hidden: Mapping[int, str]) -> list[dict[str, str]]:
    """Return the shown pictures in the form in which a step keeps them: `mime_type` and base64 `data`."""
    return [
        {"mime_type": block.mime_type, "data": base64.b64encode(block.data).decode()}
        for index, block in enumerate(content)
        if isinstance(block, ImageBlock) and index not in hidden
    ]


def _explain_hidden(block: ImageBlock, *, sees_pictures: bool) -> str:
    if not sees_pictures:
        return "the model of this agent does not see pictures"
    if block.mime_type not in PICTURE_TYPES:
        return "models do not take pictures of this type"
    if len(block.data) > MAX_PICTURE_BYTES:
        return f"it is larger than {MAX_PICTURE_BYTES:,} bytes; take a smaller part"
    width, height = _read_size(block.data)
    if max(width, height) > MAX_SIDE_PX:
        return f"its size is {width}×{height}, at most {MAX_SIDE_PX:,} pixels a side are shown; take a smaller part"
    return ""


def _read_size(data: bytes) -> tuple[int, int]:
    """Return a PNG's or JPEG's width and height.

    Others, and broken ones, give zeros, and the provider refuses them.
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    at = 2
    while data.startswith(b"\xff\xd8") and at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        # The frame headers of ITU T.81, table B.1; the excluded markers in their range mean something else.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + max(length, 2)
    return 0, 0
