// Who says what of the row that is shown: people, models, the learner. Nothing of it where one is to judge unswayed.

import { byId, h, percent, renew, short } from "./dom.js";
import { hiddenWords, keyHint } from "./hotkeys.js";
import { sureness } from "./labels.js";
import { classMark } from "./marks.js";

/** @typedef {{card: any, query: any, atHome: boolean, blind: boolean, isLabeller: boolean}} Seen the row, who looks */

/** What models say of the row that is shown; nothing where it is kept back. */
const suggested = ({ card, blind }) => (card === null || blind || card.hidden ? [] : (card.suggested ?? []));

/** The class that the key m gives: what the first model says that says anything. Null where none may be accepted. */
function offered(/** @type {Seen} */ seen) {
  const wanted = seen.isLabeller && (seen.atHome ? seen.query !== null : seen.card?.label === null);
  return wanted ? (suggested(seen)[0]?.label ?? null) : null;
}

/** Give the row the class that a model says; never where that is hidden. */
export function acceptModel(/** @type {Seen} */ seen, { choose, hint }) {
  const label = offered(seen);
  if (label !== null && (byId("voices")?.getClientRects().length ?? 0) === 0) hint(hiddenWords("what the model says"));
  else if (label !== null) choose(label);
}

/**
 * Draw the voices into their place.
 *
 * @param {HTMLElement} view
 * @param {Seen} seen
 * @param {(label: string) => void} choose called with what is accepted.
 */
export function drawVoices(view, seen, choose) {
  const said = suggested(seen);
  view.hidden = said.length === 0;
  const { card } = seen;
  const learner = said.length > 0 && !card.updating ? (card.predicted?.[0] ?? null) : null;
  const accepts = offered(seen) !== null;
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
      learner !== null && voice("The learner", null, learner[0], sureness(learner[1])),
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
