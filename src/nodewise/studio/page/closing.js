// When there is nothing to ask: why, what was reached, and what can be done next.

import { byId, count, h, percent, renew, sentence, show } from "./dom.js";
import { exportButtons } from "./exporting.js";
import { keyHint } from "./hotkeys.js";
import { inRows, several } from "./labels.js";

const STEP = 10;
const view = h("div");

/**
 * @param {{card: any, nothing: string, status: any, report: any, looking: boolean, atHome: boolean, isOwner: boolean,
 *   isLabeller: boolean}} seen what is known.
 * @param {{ask: () => void, beginLabelling: () => void, setBudget: (budget: number) => void, undo: () => void,
 *   fail: (words: string) => void}} acts what is asked for.
 */
export function drawClosing(seen, acts) {
  const { card, nothing, status, atHome } = seen;
  document.body.classList.toggle("closed", card === null && atHome && nothing !== "");
  if (card !== null || !atHome || !nothing || !status) return;
  if (view.contains(document.activeElement?.closest(".raise") ?? null)) return; // somebody is typing the new budget
  const { done, told, nodes, budget } = status;
  const facts = [seen.looking, nothing, done, told, nodes, budget, seen.isOwner, seen.isLabeller, seen.report];
  renew(view, facts, () => (seen.looking ? looking(seen, acts) : done ? spent(seen, acts) : waiting(seen, acts)));
  if (!byId("card").contains(view)) show(byId("card"), view);
}

function looking({ isLabeller }, acts) {
  return h(
    "div",
    { class: "closing" },
    h("p", { class: "eyebrow" }, h("span", { class: "pill" }, "Looking around")),
    h("h1", {}, "No row is given to you"),
    h("p", {}, "Look at the table, the map, the progress and the history; others go on with their rows."),
    isLabeller &&
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "button", class: "primary", on: { click: () => acts.beginLabelling() } }, "Give me a row"),
      ),
  );
}

function waiting(seen, acts) {
  return h(
    "div",
    { class: "closing" },
    h("h1", {}, "Nothing to ask at the moment"),
    h("p", {}, sentence(seen.nothing)),
    h(
      "p",
      { class: "quiet" },
      "The page asks again by itself as soon as something changes.",
      seen.isOwner && " Rows that somebody has left are freed under Annotators, Each one's work.",
    ),
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "button", class: "primary", on: { click: () => acts.ask() } }, "Ask again"),
    ),
    more(seen, acts),
  );
}

function spent(seen, acts) {
  const { status, report } = seen;
  const audit = report?.audit;
  const reached =
    audit && audit.nodes >= 10
      ? `The audit says that ${percent(audit.mean)} of the predictions are ${several() ? "exactly " : ""}right ` +
        `(${percent(audit.low)} to ${percent(audit.high)}).`
      : null;
  return h(
    "div",
    { class: "closing" },
    h("p", { class: "eyebrow" }, h("span", { class: "pill asked" }, "Done")),
    h("h1", {}, "The budget is spent"),
    h(
      "p",
      { class: "lead" },
      `${count(status.told, "label")} now predict all ${status.nodes.toLocaleString("en")} rows. `,
      reached,
    ),
    report &&
      h(
        "ul",
        { class: "reasons" },
        report.words.map((line) => h("li", {}, sentence(inRows(line)))),
      ),
    h("h2", {}, "What next?"),
    more(seen, acts),
  );
}

function more({ status, isOwner }, acts) {
  const field = h("input", {
    type: "number",
    id: "new-budget",
    min: "1",
    max: status.nodes,
    value: Math.min(status.nodes, Math.max(status.budget, status.told) + STEP),
  });
  const form = h(
    "form",
    { class: "raise" },
    h("label", { for: "new-budget" }, "Label more: raise the budget to"),
    field,
    h("button", { class: "primary" }, "Go on"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    /** @type {HTMLElement} */ (document.activeElement).blur();
    acts.setBudget(Math.round(Number(field.value)));
  });
  return [
    isOwner && form,
    h(
      "p",
      {},
      h(
        "button",
        { type: "button", class: "ghost", on: { click: () => acts.undo() } },
        "Undo my last label",
        keyHint("undo"),
      ),
      " or look around in the map and change any label.",
    ),
    isOwner && h("h3", {}, "Take it along"),
    isOwner &&
      h(
        "div",
        { class: "forms" },
        exportButtons(acts.fail).map((button) => {
          button.removeAttribute("role");
          return button;
        }),
      ),
  ];
}
