// The mark of a class: its colour, its shape and its number, wherever a class is named.

import { colourOf, shapeOf } from "./colours.js";
import { h } from "./dom.js";
import { classes } from "./store.js";

/** The key that chooses the class at a place: 1 … 9, then 0; none for those after. */
export const keyOf = (place) => (place < 9 ? String(place + 1) : place === 9 ? "0" : "");

/** A small coloured mark with the class's number in it. `hollow`: predicted, not labelled. */
export function mark(place, hollow = false) {
  return h("span", { class: hollow ? "mark hollow" : "mark", "aria-hidden": "true", data: { colour: colourOf(place), shape: shapeOf(place) } }, place < 0 ? "?" : place + 1);
}

export const classMark = (name, hollow = false) => mark(classes().indexOf(name), hollow);

/** A bar whose length is a share of one; colour by the class's place. The figure beside it says the same to screen readers. */
export function bar(share, place) {
  const fill = h("span", { class: "fill", data: { colour: colourOf(place) } });
  fill.style.setProperty("width", `${Math.max(0, Math.min(1, share)) * 100}%`);
  return h("span", { class: "track", "aria-hidden": "true" }, fill);
}
