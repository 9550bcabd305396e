"""Compare two pictures pixel by pixel.

The browser does it, because it decodes them anyway.
"""

from base64 import b64decode, b64encode
from dataclasses import dataclass

from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import ISOLATED_WORLD

# Draws changed pixels in red and the rest of the second picture pale. Areas that only one picture has are changed.
COMPARE_SCRIPT = """async (first, second, tolerance) => {
  const decode = async data => {
    const bytes = Uint8Array.from(atob(data), letter => letter.charCodeAt(0))
    return createImageBitmap(new Blob([bytes], {type: 'image/png'}))
  }
  const pictures = [await decode(first), await decode(second)]
  const width = Math.max(...pictures.map(each => each.width)), height = Math.max(...pictures.map(each => each.height))
  const [before, after] = pictures.map(picture => {
    const context = new OffscreenCanvas(width, height).getContext('2d', {willReadFrequently: true})
    context.drawImage(picture, 0, 0)
    return context.getImageData(0, 0, width, height)
  })
  const old = before.data, data = after.data
  let changed = 0, left = width, top = height, right = -1, bottom = -1
  for (let i = 0; i < data.length; i += 4) {
    const far = Math.max(Math.abs(data[i] - old[i]), Math.abs(data[i + 1] - old[i + 1]),
      Math.abs(data[i + 2] - old[i + 2]), Math.abs(data[i + 3] - old[i + 3]))
    if (far > tolerance) {
      const x = (i / 4) % width, y = Math.floor(i / 4 / width)
      changed++
      left = Math.min(left, x); top = Math.min(top, y); right = Math.max(right, x); bottom = Math.max(bottom, y)
      data[i] = 220; data[i + 1] = 0; data[i + 2] = 0; data[i + 3] = 255
    } else {
      for (let part = 0; part < 3; part++) data[i + part] = 255 - (255 - data[i + part]) * 0.3
    }
  }
  const canvas = new OffscreenCanvas(width, height)
  canvas.getContext('2d').putImageData(after, 0, 0)
  const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())
  let text = ''
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768))
  const sizes = pictures.map(each => [each.width, each.height])
  const box = [left, top, right + 1 - left, bottom + 1 - top]
  return {sizes, changed, total: width * height, box, picture: btoa(text)}
}"""


@dataclass(frozen=True)
class ImageDifference:
    """The difference of two pictures.

    Attributes:
        changed_pixels: Pixels with a channel that differs by more than the tolerance.
        total_pixels: Pixels of the area that holds both pictures.
        box: x, y, width and height around all changed pixels; None if nothing has changed.
        sizes: Width and height of both.
        picture: A PNG with the changed pixels in red.
    """

    changed_pixels: int
    total_pixels: int
    box: tuple[int, int, int, int] | None
    sizes: tuple[tuple[int, int], ...]
    picture: bytes

    @property
    def share(self) -> float:
        """The share of changed pixels, 0 to 1."""
        return self.changed_pixels / self.total_pixels

    def __str__(self) -> str:
        """Describe the size and position of the difference."""
        x, y, width, height = self.box or (0, 0, 0, 0)
        before, after = (f"{wide}×{tall}" for wide, tall in self.sizes)
        sizes = f", {after} instead of {before}" if before != after else ""
        return f"{self.share:.2%} of the pixels differ, within {width}×{height} at {x},{y}{sizes},"


async def compare_images(page: BrowserPage, before: bytes, after: bytes, *, tolerance: int = 16) -> ImageDifference:
    """Compare two PNGs.

    Args:
        page: Any page; it cannot see the pictures.
        before: The first picture.
        after: The second picture.
        tolerance: How far a channel may differ, 0 to 255; smoothed edges of text differ a little.

    Raises ScriptError if one of them cannot be decoded.
    """
    pictures = [b64encode(data).decode() for data in (before, after)]
    found = await page.evaluate_in(ISOLATED_WORLD, COMPARE_SCRIPT, *pictures, tolerance, timeout=60.0)
    sizes = tuple((width, height) for width, height in found["sizes"])
    left, top, width, height = found["box"]
    box = (left, top, width, height) if found["changed"] else None
    return ImageDifference(found["changed"], found["total"], box, sizes, b64decode(found["picture"]))
