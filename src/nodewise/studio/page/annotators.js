// Who has labelled how much, how far they agree, and where they do not.

import { get } from "./api.js";
import { called, count, h, percent, renew, short } from "./dom.js";
import { several, wordsOf } from "./labels.js";
import { classMark } from "./marks.js";

const SHOWN = 100;
const parts = { people: h("div"), agreement: h("div") };
/**
 * @type {{look: (node: number) => void, fail: (words: string) => void, openPeople: () => void,
 *   openAssigning: () => void, openTable: (place: Record<string, string>) => void}} what is asked for in it
 */
let acts;

/** The annotators, for a tab. */
export function annotatorsView(/** @type {typeof acts} */ heard) {
  acts = heard;
  const view = h(
    "div",
    { class: "view annotators", tabindex: "0", role: "group", "aria-label": "Annotators" },
    parts.people,
    parts.agreement,
  );
  return { view, draw };
}

function draw({ status, me, role, isOwner, isJudge }) {
  if (!status) return;
  const people = Object.entries(status.annotators).sort(([, one], [, other]) => other - one);
  const waiting = (who) => (status.open[who] ?? []).length;
  renew(parts.people, [people, status.open, me, role], () => [
    isOwner &&
      h(
        "button",
        { type: "button", class: "small", id: "people-button", on: { click: () => acts.openPeople() } },
        "People and links",
      ),
    h(
      "ul",
      { class: "people" },
      people.map(([who, labels]) =>
        h(
          "li",
          {},
          h("span", { class: "name", dir: "auto" }, who, who === me && h("span", { class: "quiet" }, " (you)")),
          h("span", { class: "quiet" }, `${count(labels, "label")}${waiting(who) ? `, ${waiting(who)} asked` : ""}`),
        ),
      ),
    ),
    isJudge &&
      h(
        "button",
        { type: "button", class: "small", id: "assign-button", on: { click: () => acts.openAssigning() } },
        "Each one's work",
      ),
    people.length === 0 && h("p", { class: "quiet" }, "Nobody has labelled anything yet."),
  ]);
  const disagreements = Object.entries(status.disagreements);
  renew(parts.agreement, [status.agreement, status.kappa, disagreements, status.classes, role], () => [
    h("h3", { role: "heading", "aria-level": "2" }, "Agreement"),
    h(
      "p",
      {},
      status.agreement === null
        ? h(
            "span",
            { class: "quiet" },
            "No row has labels of two people yet. " +
              "With “labels for each row” above 1, every row is asked of several.",
          )
        : [
            h("b", {}, percent(status.agreement)),
            h(
              "span",
              { class: "quiet" },
              several()
                ? " of the decisions on one row, class by class, are alike"
                : " of the pairs of labels on one row say the same",
            ),
          ],
    ),
    status.kappa && perClass(status.kappa),
    status.kappa?.cohen.length > 0 &&
      h(
        "ul",
        { class: "people" },
        status.kappa.cohen
          .slice(0, 20)
          .map((pair) =>
            h(
              "li",
              {},
              h("span", { class: "name" }, pair.annotators.join(" and ")),
              h("span", { class: "quiet" }, `${kappaWords(pair.kappa)} on ${count(pair.nodes, "row")}`),
            ),
          ),
      ),
    disagreements.length > 0 && [
      h("h3", { role: "heading", "aria-level": "2" }, `${count(disagreements.length, "disagreement")}`),
      h(
        "button",
        {
          type: "button",
          class: "small",
          id: "settle-button",
          on: { click: () => acts.openTable({ filter: "disagreement" }) },
        },
        isJudge ? "Settle them" : "See them all",
      ),
      h(
        "ul",
        { class: "disagreements" },
        disagreements.slice(0, SHOWN).map(([name, votes]) =>
          h(
            "li",
            {},
            h(
              "button",
              { type: "button", class: "link", on: { click: () => lookAt(name, status.named) } },
              status.named ? short(name, 60) : called({ node: Number(name), name }, 60),
            ),
            h(
              "span",
              { class: "votes" },
              Object.entries(votes).map(([who, label]) =>
                h("span", {}, `${short(who, 20)}: `, classMark(label), short(wordsOf(label), 30)),
              ),
            ),
          ),
        ),
      ),
    ],
    disagreements.length > SHOWN && h("p", { class: "quiet" }, `and ${disagreements.length - SHOWN} more`),
  ]);
}

const figure = (kappa) => (kappa === null || kappa === undefined ? "–" : kappa.toFixed(2));

const kappaWords = (kappa) => (kappa === null ? "no kappa" : `kappa ${kappa.toFixed(2)}`);

/**
 * Kappa over all and for each class: Fleiss' over everybody, and where two people have labelled the same nodes, Cohen's
 * of the two.
 */
function perClass(kappa) {
  const [pair] = kappa.cohen.length === 1 ? kappa.cohen : [null];
  return h(
    "table",
    { class: "kappa" },
    h(
      "caption",
      { class: "quiet" },
      `Agreement beyond chance on ${count(kappa.nodes, "row")}: 1 is full, 0 what chance gives.`,
    ),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "Class"),
        h("th", { scope: "col" }, "Fleiss’ kappa"),
        pair && h("th", { scope: "col" }, "Cohen’s kappa"),
      ),
    ),
    h(
      "tbody",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "row" }, "all"),
        h("td", {}, figure(kappa.fleiss)),
        pair && h("td", {}, figure(pair.kappa)),
      ),
      Object.keys(kappa.classes).map((name) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, classMark(name), " ", short(name, 40)),
          h("td", {}, figure(kappa.classes[name])),
          pair && h("td", {}, figure(pair.classes[name])),
        ),
      ),
    ),
  );
}

/** The status names nodes; the API finds the one that is called exactly so. */
async function lookAt(name, named) {
  if (!named) {
    acts.look(Number(name));
    return;
  }
  try {
    const node = (await get(`/nodes?q=${encodeURIComponent(name.slice(0, 200))}&limit=50`)).nodes.find(
      (one) => one.name === name,
    );
    if (node) acts.look(node.node);
  } catch (error) {
    acts.fail(`The row could not be found: ${error.message}.`);
  }
}
