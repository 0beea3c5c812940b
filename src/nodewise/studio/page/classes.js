// The classes of the session: rename, merge, describe, put in order; and the guideline of the job. Keys and colours
// stay with the class.

import { dialog } from "./dialogs.js";
import { h, renew } from "./dom.js";
import { classes } from "./labels.js";
import { classMark } from "./marks.js";

let redraw = () => {}; // the list, while it is open

/** The classes have changed: the list shows it, if it is open. */
export const drawClasses = () => redraw();

/**
 * Open the list of classes over the page.
 *
 * @param {{status: any}} seen
 * @param {{change: (path: string, values: object, words: string) => void}} acts
 */
export function openClasses(seen, { change }) {
  if (document.querySelector("dialog[open]") || !seen.status) return;
  const list = h("ul", { class: "class-list" });
  const wanted = new Map(); // class -> the one to merge it into, once its button is pressed
  const move = (name, by) => {
    const names = [...classes()];
    const from = names.indexOf(name);
    names.splice(from, 1);
    names.splice(Math.max(0, from + by), 0, name);
    change("/classes/order", { names }, "the classes are in another order");
  };
  const field = (value, label, changed) => {
    const input = h("input", {
      value,
      "aria-label": label,
      maxlength: "2000",
      autocomplete: "off",
      placeholder: label,
    });
    input.addEventListener("change", () => {
      if (box.open && input.value.trim() !== value) changed(input.value.trim()); // Escape throws it away
    });
    return input;
  };
  const draw = () =>
    renew(list, [classes(), seen.status.numbers, seen.status.descriptions, seen.status.balance], () =>
      classes().map((name, index) => {
        const into = h(
          "select",
          { "aria-label": `Merge ${name} into` },
          h("option", { value: "" }, "merge into …"),
          classes()
            .filter((other) => other !== name)
            .map((other) => h("option", { value: other }, other)),
        );
        const merge = h(
          "button",
          {
            type: "button",
            class: "small",
            "aria-label": `Merge ${name}`,
            on: {
              click: () => change("/classes/merge", { name, into: into.value }, `${name} counts as ${into.value}`),
            },
          },
          "Merge",
        );
        if (classes().includes(wanted.get(name))) into.value = wanted.get(name);
        merge.disabled = !into.value;
        into.addEventListener("change", () => {
          wanted.set(name, into.value);
          merge.disabled = !into.value;
        });
        return h(
          "li",
          {},
          classMark(name),
          field(name, `Name of ${name}`, (text) => {
            if (text) change("/classes/rename", { name, new_name: text }, `${name} is called ${text} now`);
          }),
          field(seen.status.descriptions[name] ?? "", `What belongs to ${name}?`, (text) =>
            change("/classes/describe", { name, text }, `the guideline of ${name}`),
          ),
          h("span", { class: "quiet figure" }, seen.status.balance[name] ?? 0),
          h("span", { class: "merging" }, into, merge),
          h(
            "button",
            {
              type: "button",
              class: "small",
              "aria-label": `${name} further up`,
              disabled: index === 0,
              on: { click: () => move(name, -1) },
            },
            "↑",
          ),
          h(
            "button",
            {
              type: "button",
              class: "small",
              "aria-label": `${name} further down`,
              disabled: index === classes().length - 1,
              on: { click: () => move(name, 1) },
            },
            "↓",
          ),
        );
      }),
    );
  const guideline = h("textarea", {
    rows: "3",
    "aria-label": "Guideline of the job",
    maxlength: "20000",
    placeholder: "What everybody should know of this job",
  });
  guideline.value = seen.status.guideline;
  guideline.addEventListener("change", () => {
    if (box.open) change("/classes/describe", { name: null, text: guideline.value }, "the guideline of the job");
  });
  const box = dialog(
    "Classes and guidelines",
    () =>
      h(
        "div",
        { class: "dialog-body" },
        h(
          "p",
          { class: "quiet" },
          "A class keeps its key and its colour, whatever it is called and wherever it stands. " +
            "Everything here can be undone in the history.",
        ),
        list,
        h("label", {}, "Guideline of the job"),
        guideline,
      ),
    "wider",
  );
  redraw = draw;
  box.addEventListener("close", () => {
    redraw = () => {};
  });
  draw();
}
