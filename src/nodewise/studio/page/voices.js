// Who says what of the row that is shown: people, models, the learner. Nothing of it where one is to judge unswayed.

import { byId, h, percent, renew, short } from "./dom.js";
import { choose } from "./flow.js";
import { hiddenWords, keyHint } from "./hotkeys.js";
import { classMark } from "./marks.js";
import { atHome, blind, isLabeller, on, set, state } from "./store.js";

/** An element for the card; it keeps itself up to date. */
export function voices() {
  const view = h("section", { class: "voices", id: "voices", "aria-label": "Who says what" });
  fill(view);
  return view;
}

on("predicted query trail", () => {
  const view = byId("voices");
  if (view) fill(view);
});

/** What models say of the row that is shown; nothing where it is kept back. */
const suggested = () => (state.card === null || blind() || state.card.hidden ? [] : (state.card.suggested ?? []));

/** The class that the key m gives: what the first model says that says anything. Null where none may be accepted. */
function offered() {
  const { card, query } = state;
  const wanted = isLabeller() && (atHome() ? query !== null : card?.label === null);
  return wanted ? (suggested()[0]?.label ?? null) : null;
}

/** Give the row the class that a model says; never where that is hidden. */
export function acceptModel() {
  const label = offered();
  if (label !== null && (byId("voices")?.getClientRects().length ?? 0) === 0)
    set({ hint: hiddenWords("what the model says") });
  else if (label !== null) choose(label);
}

function fill(view) {
  const said = suggested();
  view.hidden = said.length === 0;
  const { card } = state;
  const learner = said.length > 0 && !card.updating ? (card.predicted?.[0] ?? null) : null;
  const accepts = offered() !== null;
  renew(view, [card?.node, said, learner, card?.votes, accepts], () => [
    h("h2", {}, "Who says what"),
    h(
      "ul",
      {},
      Object.entries(card?.votes ?? {}).map(([who, label]) => voice(short(who, 30), "person", label)),
      said.map((one, index) =>
        voice(
          short(one.by, 30),
          "model",
          one.label,
          one.confidence < 1 && `${percent(one.confidence)} sure`,
          accepts &&
            h(
              "button",
              {
                type: "button",
                class: "small",
                "aria-label": `Accept what ${short(one.by, 30)} says: ${short(one.label, 60)}`,
                on: { click: () => choose(one.label) },
              },
              "Accept",
              index === 0 && keyHint("model"),
            ),
        ),
      ),
      learner !== null && voice("The learner", null, learner[0], percent(learner[1])),
    ),
  ]);
}

/** @param {string | false} [sure] @param {HTMLElement | false} [button] */
function voice(who, kind, label, sure = false, button = false) {
  return h(
    "li",
    {},
    h("b", {}, who),
    kind && h("span", { class: "quiet" }, kind),
    classMark(label, kind !== "person"),
    h("span", { class: "name", dir: "auto" }, short(label, 60)),
    sure && h("span", { class: "quiet" }, sure),
    button,
  );
}
