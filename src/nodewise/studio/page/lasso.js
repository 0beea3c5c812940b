// A selection on the map: nodes inside a line that is drawn around them, or chosen one by one, and labelled in one go.

import { count, h, icon, show } from "./dom.js";
import { keyed } from "./hotkeys.js";
import { labelField } from "./label_field.js";
import { wordsOf } from "./labels.js";

/**
 * @param {{labelOf: (node: number) => string | null, guessOf: (node: number) => string | null, changed: () => void}}
 *   map what the map knows of a node, and what is called when the selection is another.
 * @param {{isLabeller: boolean}} seen whoever only looks can label nothing with it.
 * @param {(labels: {node: number, label: string}[], words: string) => Promise<boolean>} tellBulk
 */
export function makeSelection({ labelOf, guessOf, changed }, seen, tellBulk) {
  const chosen = new Set();
  const view = h("div", { class: "chosen-nodes", role: "group", "aria-label": "Chosen rows", hidden: true });
  const button = h(
    "button",
    {
      type: "button",
      class: "segment",
      "aria-label": "Choose rows by drawing around them",
      ...keyed("lasso", "Choose rows by drawing around them"),
      "aria-pressed": "false",
      on: { click: () => turn() },
    },
    icon("lasso"),
  );
  let on = false;
  let wanted = ""; // the class that was last taken, so that a redrawn list keeps it

  const clear = () => {
    chosen.clear();
    draw();
  };
  const turn = (now = !on) => {
    on = now && seen.isLabeller;
    button.setAttribute("aria-pressed", String(on));
    if (!on) chosen.clear();
    draw();
  };
  const tell = async (labels, words) => {
    if (await tellBulk(labels, words)) clear();
  };

  const draw = () => {
    view.hidden = !on;
    const free = [...chosen].filter((node) => labelOf(node) === null);
    const labelled = chosen.size - free.length;
    const leftAlone = labelled > 0 ? `, ${labelled} labelled already and left alone` : "";
    const guessed = free.filter((node) => guessOf(node) !== null);
    const field = labelField("Class for the chosen rows", {
      value: wanted,
      changed: (label) => {
        wanted = label;
      },
    });
    const act = (text, action, primary = false) =>
      h("button", { type: "button", class: primary ? "small primary" : "small", on: { click: action } }, text);
    show(
      view,
      h(
        "span",
        { class: "quiet", role: "status" },
        chosen.size === 0
          ? "Draw around rows to choose them; Space takes the one in the middle."
          : `${count(free.length, "row")} chosen${leftAlone}`,
      ),
      free.length > 0 && [
        field.element,
        act(
          "Label them",
          () =>
            field.value() &&
            tell(
              free.map((node) => ({ node, label: field.value() })),
              `${count(free.length, "row")} labelled ${wordsOf(field.value())}`,
            ),
          true,
        ),
        guessed.length > 0 &&
          act(`Confirm ${count(guessed.length, "prediction")}`, () =>
            tell(
              guessed.map((node) => ({ node, label: guessOf(node) })),
              `${count(guessed.length, "prediction")} confirmed`,
            ),
          ),
      ],
      chosen.size > 0 && act("Choose none", clear),
      act("Done", () => turn(false)),
    );
    changed();
  };

  return {
    view,
    button,
    turn,
    draw,
    active: () => on,
    has: (node) => chosen.has(node),
    add: (nodes) => {
      for (const node of nodes) chosen.add(node);
      draw();
    },
    toggle: (node) => {
      if (!chosen.delete(node)) chosen.add(node);
      draw();
    },
  };
}

/** Whether a point lies inside a closed line, by how often a ray from it crosses the line. */
export function inside(line, x, y) {
  let within = false;
  for (let at = 0, before = line.length - 1; at < line.length; before = at++) {
    const [ax, ay] = line[at];
    const [bx, by] = line[before];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  }
  return within;
}
