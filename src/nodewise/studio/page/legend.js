// What colours, numbers and rings mean: the classes that are in sight, with how many are labelled and predicted.

import { h } from "./dom.js";
import { mark } from "./marks.js";
import { classes } from "./store.js";

const SHOWN = 12;

/** @param {[number, number][]} used for each node the place of its label and of its prediction; -1 for none. */
export function legend(used) {
  const tally = new Map();
  for (const [label, guess] of used) {
    const number = label >= 0 ? label : guess;
    if (number < 0) continue;
    const found = tally.get(number) ?? [0, 0];
    found[label >= 0 ? 0 : 1]++;
    tally.set(number, found);
  }
  const known = classes();
  const rows = [...tally].sort(([one], [other]) => one - other);
  return [
    rows.length > 0 && h("ul", { class: "legend-classes" }, rows.slice(0, SHOWN).map(([number, [labelled, predicted]]) =>
      h("li", { title: `${known[number]}: ${labelled} labelled, ${predicted} predicted` }, mark(number), h("span", { class: "name" }, known[number]),
        h("span", { class: "quiet" }, `${labelled}+${predicted}`))),
    rows.length > SHOWN && h("li", { class: "quiet" }, `and ${rows.length - SHOWN} more`)),
    h("p", { class: "legend-key quiet" }, h("span", { class: "mark", "data-colour": "none" }), "labelled +", h("span", { class: "mark hollow", "data-colour": "none" }), "predicted",
      h("span", { class: "mark asked-mark" }), "asked"),
  ];
}
