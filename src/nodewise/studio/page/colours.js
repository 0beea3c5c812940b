// Which colour, shape and number a class has: by its place in the list of classes, in every view alike.

const COLOURS = 12;
const SHAPES = 4;

let cache = null;
document.addEventListener("theme", () => { cache = null; });

/** The value of `data-colour` for a class's place; -1 for no class. */
export const colourOf = (place) => (place < 0 ? "none" : String(place % COLOURS));

export const shapeOf = (place) => (place < 0 ? 0 : Math.floor(place / COLOURS) % SHAPES);

/** The colours as a canvas needs them, read from the style sheet once for each theme. */
export function paints() {
  if (cache === null) {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    cache = {
      classes: Array.from({ length: COLOURS }, (_, number) => read(`--class-${number}`)),
      unknown: read("--unknown"), edge: read("--edge"), ink: read("--ink"), panel: read("--panel"), accent: read("--accent"), muted: read("--muted"),
    };
  }
  return cache;
}

export const paintOf = (place) => (place < 0 ? paints().unknown : paints().classes[place % COLOURS]);

/** Trace a marker's outline: circle, square, diamond or triangle, of about the same area. */
export function trace(canvas, shape, x, y, radius) {
  canvas.beginPath();
  if (shape === 0) canvas.arc(x, y, radius, 0, 7);
  else if (shape === 1) canvas.rect(x - radius * 0.88, y - radius * 0.88, radius * 1.76, radius * 1.76);
  else {
    const corners = shape === 2 ? 4 : 3;
    const reach = radius * (shape === 2 ? 1.25 : 1.4);
    for (let corner = 0; corner < corners; corner++) {
      const angle = (2 * Math.PI * corner) / corners - Math.PI / 2;
      canvas.lineTo(x + reach * Math.cos(angle), y + reach * Math.sin(angle));
    }
    canvas.closePath();
  }
}

/** Dark or light ink for a number on a class's colour. */
export function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => (Number.parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (light + 0.05) / 0.055 > 1.05 / (light + 0.05) ? "#0a0c10" : "#ffffff";
}
