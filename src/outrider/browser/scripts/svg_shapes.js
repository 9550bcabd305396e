// Lists the shapes of a clickable drawing by kind, colour and size, because nothing else identifies them.

const SHAPE_SELECTOR = "rect,circle,ellipse,polygon,polyline,path,line,text,image";
const MAX_SHAPES = 60;

function isClickableDrawing(element) {
  if (tagOf(element) !== "svg" || selectFirst(element, ACTIONABLE_SELECTOR) !== null || isIcon(element)) return false;
  return selectAll(element, SHAPE_SELECTOR).length <= MAX_SHAPES;
}

// An icon is pressed as a whole, and its class or title describes its purpose.
function isIcon(element) {
  const { width, height } = rectOf(element);
  return tagOf(element) === "svg" && width <= 32 && height <= 32 && !hasListenerInside(element);
}

function emitShapes(svg, out) {
  const name = computeName(svg, "img");
  out.item(`<svg${name ? ` ${quote(name)}` : ""} ${out.refer(svg)}>`);
  for (const shape of selectAll(svg, SHAPE_SELECTOR)) {
    if (!isShapeVisible(shape)) continue;
    const label = describeShape(shape);
    out.item(`<${label} ${out.refer(shape)}>`);
  }
}

function isShapeVisible(shape) {
  const { width, height } = rectOf(shape);
  return (width > 0 || height > 0) && checkVisibilityOf(shape, { visibilityProperty: true }) && !closestOf(shape, "defs,clipPath,mask,symbol");
}

function describeShape(shape) {
  const { width, height } = rectOf(shape);
  const size = `${Math.round(width)}×${Math.round(height)}`;
  const kind = tagOf(shape) === "text" ? quote(textContentOf(shape)) : escapeRefs(tagOf(shape));
  return [readGroupText(shape), kind, readShapeColor(shape), size].filter(Boolean).join(" ");
}

// A shape in a group with one short text belongs to that text, like the box of a node in a diagram.
function readGroupText(shape) {
  const group = tagOf(shape) === "text" ? null : closestOf(shape, "g:has(text)");
  const texts = group ? [...selectAll(group, "text")].map((each) => collapseSpace(textContentOf(each))).filter(Boolean) : [];
  return texts.length === 1 && texts[0].length <= 60 ? quote(texts[0]) : "";
}

function readShapeColor(shape) {
  const given = attributeOf(shape, "fill") || shape.style.fill;
  if (given && given !== "none" && !given.startsWith("url")) return plainLine(shorten(given, 20));
  const stroke = attributeOf(shape, "stroke");
  return stroke && stroke !== "none" ? plainLine(shorten(stroke, 20)) : "";
}

// The colour of an empty box, as in a palette; often nothing else distinguishes it.
function readSwatchColor(element) {
  if (firstChildOf(element) || NATIVE_CONTROLS.has(tagOf(element)) || tagOf(element) === "input") return "";
  const { backgroundColor, backgroundImage } = getComputedStyle(element);
  const parts = backgroundImage === "none" && /^rgb\((\d+), (\d+), (\d+)\)$/.exec(backgroundColor);
  return parts ? `#${parts.slice(1).map((part) => Number(part).toString(16).padStart(2, "0")).join("")}` : "";
}
