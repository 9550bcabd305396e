// Drawings that can be clicked: each shape by its kind, colour and size, for there is nothing else to tell it by.

const SHAPES = "rect,circle,ellipse,polygon,polyline,path,line,text,image";
const MOST_SHAPES = 60;

function isClickableDrawing(element) {
  return tagOf(element) === "svg" && element.querySelectorAll(SHAPES).length <= MOST_SHAPES;
}

function emitShapes(svg, out) {
  const name = nameOf(svg, "img");
  out.item(`<svg${name ? ` ${quoted(name)}` : ""} ${out.refer(svg, "img", name)}>`);
  for (const shape of svg.querySelectorAll(SHAPES)) {
    if (!isDrawn(shape)) continue;
    const words = shapeWords(shape);
    out.item(`<${words} ${out.refer(shape, "", contentName(shape))}>`);
  }
}

function isDrawn(shape) {
  const { width, height } = shape.getBoundingClientRect();
  return (width > 0 || height > 0) && shape.checkVisibility({ visibilityProperty: true }) && !shape.closest("defs,clipPath,mask,symbol");
}

function shapeWords(shape) {
  const { width, height } = shape.getBoundingClientRect();
  const size = `${Math.round(width)}×${Math.round(height)}`;
  const what = tagOf(shape) === "text" ? quoted(collapse(shape.textContent)) : tagOf(shape);
  return [what, colourOf(shape), size].filter(Boolean).join(" ");
}

function colourOf(shape) {
  const given = shape.getAttribute("fill") || shape.style.fill;
  if (given && given !== "none" && !given.startsWith("url")) return shorten(given, 20);
  const stroke = shape.getAttribute("stroke");
  return stroke && stroke !== "none" ? shorten(stroke, 20) : "";
}

// The colour of an empty box, as in a palette: often all that tells it from its neighbours.
function swatchOf(element) {
  if (firstChildOf(element) || NATIVE.has(tagOf(element)) || tagOf(element) === "input") return "";
  const { backgroundColor, backgroundImage } = getComputedStyle(element);
  const parts = backgroundImage === "none" && /^rgb\((\d+), (\d+), (\d+)\)$/.exec(backgroundColor);
  return parts ? `#${parts.slice(1).map((part) => Number(part).toString(16).padStart(2, "0")).join("")}` : "";
}
