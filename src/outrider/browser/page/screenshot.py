"""Take screenshots and print pages to PDF."""

from base64 import b64decode
from dataclasses import dataclass
from struct import unpack
from typing import Any, Literal

from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.values import Handle
from outrider.core.errors import InvalidInput, Unavailable

ImageFormat = Literal["png", "jpeg", "webp"]
PAPER_SIZES_IN = {
    "a3": (11.69, 16.54),
    "a4": (8.27, 11.69),
    "a5": (5.83, 8.27),
    "letter": (8.5, 11),
    "legal": (8.5, 14),
}


@dataclass(frozen=True)
class Screenshot:
    """An image. `cut` means that the page continues below; sizes are in CSS pixels, `scale` is below 1 if it shrank."""

    data: bytes
    mime_type: str
    width: int
    height: int
    cut: bool = False
    scale: float = 1.0


async def take_screenshot(
    page: BrowserPage,
    *,
    full: bool = False,
    element: Handle | None = None,
    clip: tuple[float, float, float, float] | None = None,
    format: ImageFormat = "png",  # noqa: A002 - the usual name
    quality: int = 70,
    scale: float = 1.0,
) -> Screenshot:
    """Take a screenshot of the viewport, the whole page, or a part.

    Args:
        page: The page.
        full: The whole page, up to 16,384 pixels of height.
        element: Only this element; it is scrolled into view first.
        clip: Only this part: x, y, width, height in CSS pixels of the page.
        format: `png`, `jpeg` or `webp`.
        quality: 0 to 100, for `jpeg` and `webp`.
        scale: Size of the image, relative to that of the page; at most 1.

    Raises:
        InvalidInput: The element has no size.
    """
    timeout_s = 20.0
    metrics = page.send("Page.getLayoutMetrics", timeout=timeout_s)
    params: dict[str, Any] = {"format": format, "optimizeForSpeed": format == "png"}
    params |= {"quality": quality} if format != "png" else {}
    is_viewport = not (full or element or clip)
    if is_viewport and scale == 1:
        screenshot = page.send("Page.captureScreenshot", params, timeout=timeout_s)
        viewport = (await metrics)["cssVisualViewport"]
        width, height = round(viewport["clientWidth"]), round(viewport["clientHeight"])
        return Screenshot(b64decode((await screenshot)["data"]), f"image/{format}", width, height)
    layout = await metrics
    if is_viewport:
        viewport = layout["cssVisualViewport"]
        clip = (viewport["pageX"], viewport["pageY"], viewport["clientWidth"], viewport["clientHeight"])
    if element is not None:
        clip = await _measure_element(page, element, layout)
    if full or clip is None:
        clip = (0, 0, layout["cssContentSize"]["width"], layout["cssContentSize"]["height"])
    area = _clamp_clip(clip)
    params |= {"clip": area | {"scale": scale}, "captureBeyondViewport": not is_viewport}
    answer = await page.send("Page.captureScreenshot", params, timeout=timeout_s)
    width, height = round(area["width"]), round(area["height"])
    return Screenshot(b64decode(answer["data"]), f"image/{format}", width, height, area["height"] < clip[3], scale)


async def take_fitting_screenshot(
    page: BrowserPage, *, max_side_px: int, max_bytes: int, full: bool = False, element: Handle | None = None
) -> Screenshot:
    """Take a screenshot that fits the limits.

    It is taken again, smaller or as JPEG, until it does.

    Raises InvalidInput as `take_screenshot`.
    """
    max_attempts = 5
    shot = await take_screenshot(page, full=full, element=element)
    # Screens with several pixels per CSS pixel give larger images (PNG, 11.2.1: the size is in the first chunk).
    longest_side_px = max(unpack(">II", shot.data[16:24]))
    scale = min(1.0, max_side_px / longest_side_px)
    if scale < 1:
        shot = await take_screenshot(page, full=full, element=element, scale=scale)
    for _ in range(max_attempts):
        if len(shot.data) <= max_bytes:
            break
        if shot.mime_type == "image/jpeg":
            scale *= max(0.3, 0.9 * (max_bytes / len(shot.data)) ** 0.5)
        shot = await take_screenshot(page, full=full, element=element, format="jpeg", scale=scale)
    return shot


def _clamp_clip(clip: tuple[float, float, float, float]) -> dict[str, float]:
    """Limit an area to what browsers can paint in one image."""
    max_area_px = 40_000_000
    max_side_px = 16_384
    x, y, width, height = clip
    side = min(width, max_side_px)
    tall = min(height, max_side_px, max_area_px // max(int(width), 1))
    return {"x": max(x, 0), "y": max(y, 0), "width": side, "height": tall}


async def _measure_element(
    page: BrowserPage, element: Handle, layout: dict[str, Any]
) -> tuple[float, float, float, float]:
    await page.send("DOM.scrollIntoViewIfNeeded", {"objectId": element.object_id})
    quads = (await page.send("DOM.getContentQuads", {"objectId": element.object_id}))["quads"]
    if not quads:
        raise InvalidInput("the element has no size", code="zero_size", hint="choose a visible element")
    xs, ys = [x for quad in quads for x in quad[::2]], [y for quad in quads for y in quad[1::2]]
    now = await page.send("Page.getLayoutMetrics")
    view = now.get("cssVisualViewport", layout["cssVisualViewport"])
    left, top = min(xs) + view["pageX"], min(ys) + view["pageY"]
    return left, top, max(max(xs) - min(xs), 1), max(max(ys) - min(ys), 1)


async def print_pdf(page: BrowserPage, *, paper: str = "a4", landscape: bool = False, background: bool = True) -> bytes:
    """Print the page to PDF with its print style sheet. Raises InvalidInput or Unavailable."""
    margin_in = 0.4
    size = PAPER_SIZES_IN.get(paper.lower())
    if size is None:
        raise InvalidInput(f"paper: {paper!r} is unknown", hint=f"one of {', '.join(PAPER_SIZES_IN)}")
    margins = {f"margin{side}": margin_in for side in ("Top", "Bottom", "Left", "Right")}
    style = {"landscape": landscape, "printBackground": background, "preferCSSPageSize": True}
    params = {"paperWidth": size[0], "paperHeight": size[1], "transferMode": "ReturnAsBase64"} | margins | style
    answer = await page.send("Page.printToPDF", params, timeout=60.0)
    data = b64decode(answer["data"])
    if not data.startswith(b"%PDF"):
        raise Unavailable("the browser returned no PDF", code="print", hint="try again")
    return data
