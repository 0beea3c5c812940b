// A class wherever it is drawn: its colour, its shape and its number, which it keeps for the life of the session; and
// the legend of what is in sight.

import { h } from "./dom.js";
import { nameOf, numberOf } from "./store.js";

const COLOURS = 12;
const SHAPES = 4;
const LISTED = 12;

let cache = null;
document.addEventListener("theme", () => {
  cache = null;
});

/** The value of `data-colour` for a class's number; -1 for no class. */
export const colourOf = (number) => (number < 0 ? "none" : String(number % COLOURS));

export const shapeOf = (number) => (number < 0 ? 0 : Math.floor(number / COLOURS) % SHAPES);

/** The colours as a canvas needs them, read from the style sheet once for each theme. */
export function paints() {
  if (cache === null) {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    cache = {
      classes: Array.from({ length: COLOURS }, (_, number) => read(`--class-${number}`)),
      unknown: read("--unknown"),
      edge: read("--edge"),
      ink: read("--ink"),
      panel: read("--panel"),
      accent: read("--accent"),
      muted: read("--muted"),
    };
  }
  return cache;
}

export const paintOf = (number) => (number < 0 ? paints().unknown : paints().classes[number % COLOURS]);

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

/** The key that chooses the class of a number: 1 … 9, then 0; none for those after. */
export const keyOf = (number) => (number < 9 ? String(number + 1) : number === 9 ? "0" : "");

/** A small coloured mark with the class's number in it. `hollow`: predicted, not labelled. */
export function mark(number, hollow = false) {
  return h(
    "span",
    {
      class: `mark${hollow ? " hollow" : ""}${number >= 99 ? " long" : ""}`,
      "aria-hidden": "true",
      data: { colour: colourOf(number), shape: shapeOf(number) },
    },
    number < 0 ? "?" : number + 1,
  );
}

export const classMark = (name, hollow = false) => mark(numberOf(name), hollow);

/**
 * A bar whose length is a share of one; colour by the class's number. The figure beside it says the same to screen
 * readers.
 */
export function bar(share, number) {
  const fill = h("span", { class: "fill", data: { colour: colourOf(number) } });
  fill.style.setProperty("width", `${Math.max(0, Math.min(1, share)) * 100}%`);
  return h("span", { class: "track", "aria-hidden": "true" }, fill);
}

/** @param {[number, number][]} used for each node the number of its label and of its prediction; -1 for none. */
export function legend(used) {
  const tally = new Map();
  for (const [label, guess] of used) {
    const number = label >= 0 ? label : guess;
    if (number < 0) continue;
    const counts = tally.get(number) ?? [0, 0];
    counts[label >= 0 ? 0 : 1]++;
    tally.set(number, counts);
  }
  const rows = [...tally].sort(([one], [other]) => one - other);
  return [
    rows.length > 0 &&
      h(
        "ul",
        { class: "legend-classes" },
        rows
          .slice(0, LISTED)
          .map(([number, [labelled, predicted]]) =>
            h(
              "li",
              { title: `${nameOf(number)}: ${labelled} labelled, ${predicted} predicted` },
              mark(number),
              h("span", { class: "name" }, nameOf(number)),
              h(
                "span",
                { class: "quiet" },
                labelled
                  ? `${labelled} labelled${predicted ? `, ${predicted} predicted` : ""}`
                  : `${predicted} predicted`,
              ),
            ),
          ),
        rows.length > LISTED && h("li", { class: "quiet" }, `and ${rows.length - LISTED} more`),
      ),
    h(
      "p",
      { class: "legend-key quiet" },
      h("span", { class: "mark", "data-colour": "none" }),
      "labelled",
      h("span", { class: "mark hollow", "data-colour": "none" }),
      "predicted",
      h("span", { class: "mark asked-mark" }),
      "asked",
    ),
  ];
}
