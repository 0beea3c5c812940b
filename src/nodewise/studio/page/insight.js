// Why the node was asked, in words, and what is predicted now.

import { byId, count, h, kept, percent, renew, sentence, short } from "./dom.js";
import { keyHint } from "./hotkeys.js";
import { aloneKnown, classes, labelOf, likeliest, numberOf, several, wordsOf } from "./labels.js";
import { bar, mark } from "./marks.js";

/**
 * @param {{card: any, query: any, status: any, gone: Record<string, string> | null, atHome: boolean, blind: boolean,
 *   unlearned: boolean, choice: object | null, acceptable: string | null}} seen what is known of the row.
 * @param {{accept: () => void, ask: () => void}} acts what is asked for.
 */
export function drawInsight(seen, acts) {
  const view = byId("insight");
  const { card, blind, unlearned } = seen;
  view.hidden = card === null;
  if (card === null) return;
  const asked = seen.atHome ? seen.query : null;
  const { node, predicted: chances, given, updating, hidden } = card;
  const facts = [asked?.event, blind, node, chances, given, seen.choice === null, updating, hidden, seen.gone];
  renew(view, [...facts, classes(), unlearned, aloneKnown()], () => [
    seen.gone && asked && gone(seen.gone, acts.ask),
    h(
      "section",
      { class: "predicted", "aria-label": "Predicted now" },
      h("h2", {}, asked ? "Predicted now" : "Predicted"),
      predicted(asked, seen, acts.accept),
    ),
    asked && why(asked, seen.status?.named),
  ]);
}

function predicted(asked, { card, blind, unlearned, choice, acceptable }, accept) {
  if (asked?.audit)
    return h(
      "p",
      { class: "quiet" },
      "Hidden on purpose: this row was drawn at random to measure the accuracy, and a prediction could sway you.",
    );
  if (!asked && blind)
    return h("p", { class: "quiet" }, "Hidden until you have answered: the asked row is to be judged without it.");
  if (card.updating) {
    return h(
      "p",
      { class: "quiet updating", role: "status" },
      h("span", { class: "spinner", "aria-hidden": "true" }),
      "Updating: the program learns from the last labels …",
    );
  }
  if (asked && blind && !unlearned) {
    return h(
      "p",
      { class: "quiet" },
      "Hidden on purpose: others are asked about this row too, and your own opinion is wanted.",
    );
  }
  const chances = card.predicted;
  if (!chances?.length) {
    return h(
      "p",
      { class: "quiet" },
      unlearned ? "Unknown: predictions begin with the first label." : "No prediction is shown for this row.",
    );
  }
  if (aloneKnown() && chances[0][1] === 1) return alone(chances[0][0], choice === null ? acceptable : null, accept);
  const given = several() ? (card.given ?? []) : [];
  const listed = likeliest(chances, given);
  const others = classes().length - listed.length;
  const offered = choice === null ? acceptable : null; // Enter saves what is chosen
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
    offered !== null && acceptItem(accept),
  );
}

/** One class alone is known: it is no prediction, and has no figure. */
function alone(name, offered, accept) {
  return h(
    "ul",
    { class: "bars" },
    h(
      "li",
      { class: "rest" },
      mark(numberOf(name), true),
      h("span", { class: "name", title: name }, name),
      h("span", { class: "quiet" }, " alone has labels so far, so nothing else can be predicted."),
    ),
    offered !== null && acceptItem(accept),
  );
}

const acceptItem = (accept) =>
  h(
    "li",
    { class: "rest" },
    h("button", { type: "button", class: "small", on: { click: accept } }, "Accept", keyHint("accept")),
  );

/** The reasons, folded away; whether they are open is remembered. */
function why(asked, named) {
  const box = h(
    "details",
    { class: "why", open: kept.read("reasons", "") === "open" },
    h("summary", {}, whyThis(asked)),
    h(
      "ul",
      { class: "reasons" },
      asked.why.map((reason) => h("li", {}, sentence(plain(reason, named)))),
    ),
  );
  box.addEventListener("toggle", () => kept.write("reasons", box.open ? "open" : ""));
  return box;
}

const whyThis = ({ random, unlike }) =>
  unlike
    ? "Why this one? It is unlike everything labelled so far."
    : random
      ? "Why this one? It is a random one."
      : "Why this one?";

const MOST = "this one should teach the most about the others";

/** A reason in the page's words: rows without a name are counted from 1, and figures are left out that only who wrote
 * the classifier can read. */
const plain = (reason, named) =>
  reason
    .replace(/ \((?:entropy|divergence)[^)]*\)/g, "")
    .replace(/^of the ([\d,]+) nodes that could be asked, gain puts it first$/, (_, rows) => `of ${rows} rows, ${MOST}`)
    .replace(/^of the ([\d,]+) nodes that could be asked/, "of the $1 rows that could be asked")
    .replace(/ % of the nodes(?=$|;)/, " % of the rows")
    .replace(/^(its label would decide (?:about \d+ |little beyond the ))node/, "$1row")
    .replace(/, so its place in the graph decides$/, ", so its place among the other rows decides")
    .replace(/((?:similar node|labelled neighbour)s?) ([\d, and]+)$/, (whole, kind, numbers) =>
      named
        ? whole
        : `${kind.replace("node", "row")} ${numbers.replace(/\d+/g, (number) => String(Number(number) + 1))}`,
    );

function gone(votes, ask) {
  const said = Object.entries(votes)
    .map(([who, label]) => `${short(who, 30)} says ${short(wordsOf(label), 40)}`)
    .join(", ");
  return h(
    "p",
    { class: "notice", role: "status" },
    h("span", {}, said ? `Labelled meanwhile: ${said}.` : "This row is no longer asked of you."),
    h("button", { type: "button", class: "small", on: { click: () => ask() } }, "Next row"),
  );
}
