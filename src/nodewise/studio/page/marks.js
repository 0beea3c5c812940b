// A class wherever it is drawn: its colour, its shape and its number, which it keeps for the life of the session; and
// the legend of what is in sight.

import { h } from "./dom.js";
import { nameOf, numberOf, numbersOf, several } from "./labels.js";

const COLOURS = 12;
const SHAPES = 4;
const RELATIONS = 6;
const LISTED = 12;
const NOTHING = Infinity; // none of the classes, behind all others

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
      relations: Array.from({ length: RELATIONS }, (_, number) => read(`--relation-${number}`)),
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

/** Fill the marker of a node's classes: one in its shape, several as parts of a circle. Its outline stays traced. */
export function fillMark(canvas, numbers, x, y, radius) {
  const many = numbers.length > 1;
  if (many)
    for (const [part, number] of numbers.entries()) {
      const turn = (share) => (2 * Math.PI * share) / numbers.length - Math.PI / 2;
      canvas.beginPath();
      canvas.moveTo(x, y);
      canvas.arc(x, y, radius, turn(part), turn(part + 1));
      canvas.closePath();
      canvas.fillStyle = paintOf(number);
      canvas.fill();
    }
  trace(canvas, shapeOfAll(numbers), x, y, radius);
  if (many) return;
  canvas.fillStyle = paintOf(numbers[0] ?? -1);
  canvas.fill();
}

/** The shape of a node's classes: that of the only one, else a circle. */
export const shapeOfAll = (numbers) => (numbers.length === 1 ? shapeOf(numbers[0]) : 0);

/** Dark or light ink for a number on a class's colour. */
export function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => (Number.parseInt(colour.slice(at, at + 2), 16) / 255) ** 2.2);
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (light + 0.05) / 0.055 > 1.05 / (light + 0.05) ? "#0a0c10" : "#ffffff";
}

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

/** The mark of a label: of several classes one each, of none of them a dash. */
export function classMark(label, hollow = false) {
  const numbers = several() ? numbersOf(label) : null;
  if (numbers === null) return mark(numberOf(label), hollow);
  return numbers.length > 0 ? numbers.map((number) => mark(number, hollow)) : noneMark(hollow);
}

const noneMark = (hollow) =>
  h("span", { class: `mark${hollow ? " hollow" : ""}`, "aria-hidden": "true", data: { colour: "none" } }, "–");

/**
 * A bar whose length is a share of one; colour by the class's number. The figure beside it says the same to screen
 * readers.
 */
export function bar(share, number) {
  const fill = h("span", { class: "fill", data: { colour: colourOf(number) } });
  fill.style.setProperty("width", `${Math.max(0, Math.min(1, share)) * 100}%`);
  return h("span", { class: "track", "aria-hidden": "true" }, fill);
}

/**
 * @param {[number[] | null, number[] | null][]} used for each node the classes of its label and of its prediction, by
 *   number; null for none.
 */
export function legend(used) {
  const tally = new Map();
  for (const [label, guess] of used) {
    const numbers = label ?? guess;
    if (numbers === null) continue;
    for (const number of numbers.length > 0 ? numbers : [NOTHING]) {
      const counts = tally.get(number) ?? [0, 0];
      counts[label === null ? 1 : 0]++;
      tally.set(number, counts);
    }
  }
  const called = (number) => (number === NOTHING ? "none of them" : nameOf(number));
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
              { title: `${called(number)}: ${labelled} labelled, ${predicted} predicted` },
              number === NOTHING ? noneMark(false) : mark(number),
              h("span", { class: "name" }, called(number)),
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
