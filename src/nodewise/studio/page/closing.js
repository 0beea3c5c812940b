// When there is nothing to ask: why, what was reached, and what can be done next.

import { byId, count, h, inRows, percent, renew, sentence, show } from "./dom.js";
import { exportButtons } from "./exporting.js";
import { ask, beginLabelling, setBudget, undo } from "./flow.js";
import { keyHint } from "./hotkeys.js";
import { several } from "./labels.js";
import { lastReport } from "./progress.js";
import { atHome, isLabeller, isOwner, on, state } from "./store.js";

const STEP = 10;
const view = h("div");

/** @param {() => void} closed called when it begins: there is no neighbourhood to show then. */
export function startClosing(closed) {
  on("card nothing status looking", draw);
  on("nothing", () => {
    if (state.nothing && atHome()) closed();
  });
  document.addEventListener("report", draw);
}

function draw() {
  const { card, nothing, status } = state;
  document.body.classList.toggle("closed", card === null && atHome() && nothing !== "");
  if (card !== null || !atHome() || !nothing || !status) return;
  if (view.contains(document.activeElement?.closest(".raise") ?? null)) return; // somebody is typing the new budget
  const { done, told, nodes, budget } = status;
  renew(view, [state.looking, nothing, done, told, nodes, budget, state.role, lastReport()], () =>
    state.looking ? looking() : done ? spent(status) : waiting(nothing),
  );
  if (!byId("card").contains(view)) show(byId("card"), view);
}

function looking() {
  return h(
    "div",
    { class: "closing" },
    h("p", { class: "eyebrow" }, h("span", { class: "pill" }, "Looking around")),
    h("h1", {}, "No row is given to you"),
    h("p", {}, "Look at the table, the map, the progress and the history; others go on with their rows."),
    isLabeller() &&
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "button", class: "primary", on: { click: () => beginLabelling() } }, "Give me a row"),
      ),
  );
}

function waiting(nothing) {
  return h(
    "div",
    { class: "closing" },
    h("h1", {}, "Nothing to ask at the moment"),
    h("p", {}, sentence(nothing)),
    h("p", { class: "quiet" }, "The page asks again by itself as soon as something changes."),
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "button", class: "primary", on: { click: () => ask() } }, "Ask again"),
    ),
    more(),
  );
}

function spent(status) {
  const report = lastReport();
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
    more(),
  );
}

function more() {
  const { status } = state;
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
    setBudget(Math.round(Number(field.value)));
  });
  return [
    isOwner() && form,
    h(
      "p",
      {},
      h(
        "button",
        { type: "button", class: "ghost", on: { click: () => undo() } },
        "Undo my last label",
        keyHint("undo"),
      ),
      " or look around in the map and change any label.",
    ),
    isOwner() && h("h3", {}, "Take it along"),
    isOwner() &&
      h(
        "div",
        { class: "forms" },
        exportButtons().map((button) => {
          button.removeAttribute("role");
          return button;
        }),
      ),
  ];
}
