// Why the node was asked, in words, and what is predicted now.

import { byId, count, h, kept, percent, renew, sentence, short } from "./dom.js";
import { accept, acceptable, ask } from "./flow.js";
import { keyHint } from "./hotkeys.js";
import { labelOf, several, wordsOf } from "./labels.js";
import { bar, mark } from "./marks.js";
import { choice } from "./picking.js";
import { atHome, blind, classes, numberOf, on, state } from "./store.js";

const SHOWN = 3;

export function startInsight() {
  on("card query gone trail nothing predicted choice", draw);
  on("status", () => {
    if (state.card) draw();
  });
}

function draw() {
  const view = byId("insight");
  view.hidden = state.card === null;
  if (state.card === null) return;
  const asked = atHome() ? state.query : null;
  const facts = [
    asked?.event,
    blind(),
    state.card.node,
    state.card.predicted,
    state.card.given,
    choice() === null,
    state.card.updating,
    state.card.hidden,
    state.gone,
    classes(),
    Boolean(state.status && state.status.told + state.status.given),
  ];
  renew(view, facts, () => [
    state.gone && atHome() && gone(),
    h(
      "section",
      { class: "predicted", "aria-label": "Predicted now" },
      h("h2", {}, asked ? "Predicted now" : "Predicted"),
      predicted(asked),
    ),
    asked && why(asked),
  ]);
}

function predicted(asked) {
  if (asked?.audit)
    return h(
      "p",
      { class: "quiet" },
      "Hidden on purpose: this row was drawn at random to measure the accuracy, and a prediction could sway you.",
    );
  if (!asked && blind())
    return h("p", { class: "quiet" }, "Hidden until you have answered: the asked row is to be judged without it.");
  if (state.card.updating) {
    return h(
      "p",
      { class: "quiet updating", role: "status" },
      h("span", { class: "spinner", "aria-hidden": "true" }),
      "Updating: the program learns from the last labels …",
    );
  }
  if (asked && blind() && state.status.told + state.status.given > 0) {
    return h(
      "p",
      { class: "quiet" },
      "Hidden on purpose: others are asked about this row too, and your own opinion is wanted.",
    );
  }
  const chances = state.card.predicted;
  if (!chances?.length) {
    return h(
      "p",
      { class: "quiet" },
      state.status && state.status.told + state.status.given === 0
        ? "Unknown: predictions begin with the first label."
        : "No prediction is shown for this row.",
    );
  }
  const given = several() ? (state.card.given ?? []) : [];
  const listed = several() ? setFirst(chances, given) : chances.slice(0, SHOWN);
  const others = classes().length - listed.length;
  const offered = choice() === null ? acceptable() : null; // Enter saves what is chosen
  return h(
    "ul",
    { class: "bars" },
    several() && h("li", { class: "rest set" }, h("b", {}, wordsOf(labelOf(given)))),
    listed.map(([name, chance]) => {
      const number = numberOf(name);
      return h(
        "li",
        { class: given.includes(name) ? "given" : null },
        mark(number, !given.includes(name)),
        h("span", { class: "name", title: name }, name),
        bar(chance, number),
        h("span", { class: "figure" }, percent(chance)),
      );
    }),
    others > 0 && h("li", { class: "quiet rest" }, `${count(others, "other class", "other classes")} less likely`),
    offered !== null &&
      h(
        "li",
        { class: "rest" },
        h("button", { type: "button", class: "small", on: { click: accept } }, "Accept", keyHint("accept")),
      ),
  );
}

/** Every class that is predicted, then the likeliest of the others. */
function setFirst(chances, given) {
  const inside = chances.filter(([name]) => given.includes(name));
  const outside = chances.filter(([name]) => !given.includes(name));
  return [...inside, ...outside.slice(0, Math.max(1, SHOWN - inside.length))];
}

/** The reasons, folded away; whether they are open is remembered. */
function why(asked) {
  const box = h(
    "details",
    { class: "why", open: kept.read("reasons", "") === "open" },
    h("summary", {}, asked.random ? "Why this one? It is a random one." : "Why this one?"),
    h(
      "ul",
      { class: "reasons" },
      asked.why.map((reason) => h("li", {}, sentence(plain(reason)))),
    ),
  );
  box.addEventListener("toggle", () => kept.write("reasons", box.open ? "open" : ""));
  return box;
}

const MOST = "this one should teach the most about the others";

/** A reason in the page's words: rows without a name are counted from 1, and figures are left out that only who wrote
 * the classifier can read. */
const plain = (reason) =>
  reason
    .replace(/ \((?:entropy|divergence)[^)]*\)/g, "")
    .replace(/^of the ([\d,]+) nodes that could be asked, gain puts it first$/, (_, rows) => `of ${rows} rows, ${MOST}`)
    .replace(/^of the ([\d,]+) nodes that could be asked/, "of the $1 rows that could be asked")
    .replace(/ % of the nodes(?=$|;)/, " % of the rows")
    .replace(/^(its label would decide (?:about \d+ |little beyond the ))node/, "$1row")
    .replace(/, so its place in the graph decides$/, ", so its place among the other rows decides")
    .replace(/((?:similar node|labelled neighbour)s?) ([\d, and]+)$/, (whole, kind, numbers) =>
      state.status?.named
        ? whole
        : `${kind.replace("node", "row")} ${numbers.replace(/\d+/g, (number) => String(Number(number) + 1))}`,
    );

function gone() {
  const said = Object.entries(state.gone)
    .map(([who, label]) => `${short(who, 30)} says ${short(wordsOf(label), 40)}`)
    .join(", ");
  return h(
    "p",
    { class: "notice", role: "status" },
    h("span", {}, said ? `Labelled meanwhile: ${said}.` : "This row is no longer asked of you."),
    h("button", { type: "button", class: "small", on: { click: () => ask() } }, "Next row"),
  );
}
