// The row that is read beside the table: its whole text, what was said of it, and what can be done with it alone.

import { attributes, link, linked, picture, rest } from "./card.js";
import { ago, called, count, h, keepFocus, short, show } from "./dom.js";
import { classCommand, keyHint } from "./hotkeys.js";
import { labelField } from "./label_field.js";
import { answerOf, classes, labelOf, likeliest, numberOf, several, sureness, wordsOf } from "./labels.js";
import { bar, classMark } from "./marks.js";

const BUTTONS = 12;
const wanted = new Map(); // node -> the class to settle it as, once the button is pressed

/**
 * The pane beside the table.
 *
 * @param {{me: string, role: string, isLabeller: boolean, isJudge: boolean}} seen who reads.
 * @param {{back: () => void, look: (node: number) => void, openSimilar: (card: any) => void,
 *   fetchCard: (node: number) => Promise<any>, addNote: (node: number, text: string) => Promise<void>,
 *   label: (card: any, label: string) => void,
 *   change: (path: string, values: object, words: string, node: number) => void}} acts what is asked for in it;
 *   `back` leaves the row, where it and the table do not fit beside each other.
 */
export function readingPane(seen, acts) {
  const body = h("div", { class: "reading-body" });
  const element = h(
    "section",
    { class: "table-reading", "aria-label": "The row that is read", tabindex: "-1" },
    h("button", { type: "button", class: "small reading-back", on: { click: () => acts.back() } }, "Back to the rows"),
    body,
  );
  let wanted = null; // the row that was asked for last: it may be on its way
  let shown = null;
  let drawn = "";
  let turn = 0;

  const empty = () => show(body, h("p", { class: "quiet" }, "Choose a row to read it here."));
  empty();

  /** Show a row, or nothing for null. */
  async function read(node) {
    const mine = ++turn;
    wanted = node;
    if (node === null) {
      shown = null;
      drawn = "";
      empty();
      return;
    }
    try {
      const card = await acts.fetchCard(node);
      if (mine !== turn) return;
      if (shown !== node) element.scrollTop = 0;
      shown = node;
      const facts = JSON.stringify([card, classes(), seen.role]);
      if (facts === drawn) return;
      drawn = facts;
      draw(card);
    } catch (error) {
      drawn = "";
      if (mine === turn) show(body, h("p", { class: "bad" }, `The row could not be fetched: ${error.message}.`));
    }
  }

  function draw(card) {
    const title = card.heading;
    const text = rest(card.text, title);
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    const typed = body.contains(focused) && focused.matches("input.note-field");
    if (typed && /** @type {HTMLInputElement} */ (focused).value) {
      drawn = ""; // what is being written is not thrown away
      return;
    }
    const held = keepFocus(body);
    show(
      body,
      h("h3", { dir: "auto" }, title),
      h(
        "p",
        { class: "facts" },
        h("span", {}, title === called(card) ? `Row ${card.node + 1}` : called({ ...card, title: null })),
        card.link && link(card.link),
      ),
      said(card, seen.isJudge, acts.change),
      predicted(card),
      seen.isLabeller && choices(card, seen.me, acts.label),
      card.picture && picture(card, title),
      text && h("div", { class: "text", dir: "auto" }, linked(text)),
      card.cut && h("p", { class: "quiet" }, "It is longer than this; what is beyond is not shown."),
      attributes(card.attributes),
      notes(card, acts.addNote),
      h(
        "div",
        { class: "buttons" },
        h(
          "button",
          {
            type: "button",
            class: "small",
            on: { click: () => acts.look(card.node) },
          },
          "Open it beside the rows like it",
        ),
        card.from !== "audit" &&
          h("button", { type: "button", class: "small", on: { click: () => acts.openSimilar(card) } }, "Similar rows"),
      ),
    );
    held?.();
  }

  return { element, read, again: () => (wanted === null ? undefined : read(wanted)) };
}

/** What people say of the row, vote by vote where they differ; the owner or a reviewer settles it. */
function said(card, isJudge, change) {
  const votes = Object.entries(card.votes);
  const sides = [...new Set(votes.map(([, label]) => label))];
  const from = { told: "", bulk: " (in bulk)", audit: " (for the audit)", given: " (it came with the file)" };
  if (sides.length < 2)
    return h(
      "p",
      { class: "reading-label" },
      card.label === null
        ? h("span", { class: "quiet" }, "Not labelled yet.")
        : [
            classMark(card.label),
            " ",
            h("b", {}, wordsOf(card.label)),
            h(
              "span",
              { class: "quiet" },
              from[card.from] ?? "",
              votes.length > 0 && `, said by ${short(votes.map(([who]) => who).join(", "), 60)}`,
            ),
          ],
      card.skipped_by.length > 0 &&
        h("span", { class: "quiet" }, ` Skipped by ${short(card.skipped_by.join(", "), 60)}.`),
    );
  const decide = (label) =>
    change(
      "/settle",
      { node: card.node, label: answerOf(label) },
      `“${called(card)}” is settled as ${short(wordsOf(label), 60)}`,
      card.node,
    );
  const other = labelField(`Another class for ${called(card)}`, {
    value: wanted.get(card.node) ?? "",
    empty: several() ? "other classes …" : "another class …",
    without: sides,
    changed: (label) => {
      wanted.set(card.node, label);
      so.disabled = !label;
    },
  });
  const so = h(
    "button",
    { type: "button", class: "small", on: { click: () => decide(other.value()) } },
    "Settle it so",
  );
  so.disabled = !other.value();
  return h(
    "div",
    { class: "reading-votes", data: { node: card.node } },
    h(
      "p",
      {},
      card.settled_by
        ? ["Settled as ", h("b", {}, wordsOf(card.label)), ` by ${short(card.settled_by, 30)}.`]
        : ["People disagree. It counts as ", h("b", {}, wordsOf(card.label)), " until somebody settles it."],
    ),
    h(
      "ul",
      { class: "ballots" },
      sides.map((label) =>
        h(
          "li",
          {},
          classMark(label),
          h("b", {}, wordsOf(label)),
          h(
            "span",
            { class: "quiet" },
            ` ${votes
              .filter(([, each]) => each === label)
              .map(([who]) => short(who, 30))
              .join(", ")}`,
          ),
          isJudge &&
            h(
              "button",
              {
                type: "button",
                class: "small",
                "aria-label": `Settle ${called(card)} as ${wordsOf(label)}`,
                "aria-pressed": String(card.settled_by !== null && card.label === label),
                on: { click: () => decide(label) },
              },
              card.settled_by !== null && card.label === label ? "Settled" : "It is this",
            ),
        ),
      ),
    ),
    isJudge && h("div", { class: "settle-other" }, other.element, so),
  );
}

/** What is predicted, and what models say. */
function predicted(card) {
  if (card.hidden)
    return h("p", { class: "quiet" }, "No prediction is shown: it could sway an answer that is still wanted.");
  return [
    several() &&
      card.given !== null &&
      h("p", {}, h("span", { class: "quiet" }, "Predicted: "), h("b", {}, wordsOf(labelOf(card.given)))),
    card.predicted?.length > 0 &&
      h(
        "ul",
        { class: "bars", "aria-label": "Predicted" },
        likeliest(card.predicted, card.given ?? []).map(([name, chance]) =>
          h(
            "li",
            {},
            classMark(name, true),
            h("span", { class: "name", title: name }, name),
            bar(chance, numberOf(name)),
            h("span", { class: "figure" }, sureness(chance)),
          ),
        ),
      ),
    card.suggested.length > 0 &&
      h(
        "ul",
        { class: "reading-models" },
        card.suggested.map((one) =>
          h("li", { class: "quiet" }, `${short(one.by, 30)} says `, classMark(one.label, true), ` ${one.label}`),
        ),
      ),
  ];
}

/** Give the row a class: the nearest at hand first, all of them in a list. */
function choices(card, me, give) {
  const names = several() ? [] : classes();
  const rest = names.length > BUTTONS || several();
  const other = labelField(several() ? "Classes for this row" : "Another class for this row", {
    value: several() ? (card.votes[me] ?? "") : "",
    empty: several() ? "choose classes …" : `${count(names.length - BUTTONS, "more class", "more classes")} …`,
    without: names.slice(0, BUTTONS),
  });
  const so = h("button", { type: "button", class: "small" }, "Give it");
  so.addEventListener("click", () => {
    if (other.value()) give(card, other.value());
  });
  return h(
    "div",
    { class: "reading-choices", role: "group", "aria-label": "Label this row" },
    names.slice(0, BUTTONS).map((name) =>
      h(
        "button",
        {
          type: "button",
          class: "small",
          "aria-pressed": String(card.votes[me] === name),
          on: { click: () => give(card, name) },
        },
        classMark(name),
        h("span", { class: "name" }, name),
        classCommand(numberOf(name)) && keyHint(classCommand(numberOf(name))),
      ),
    ),
    rest && [other.element, so],
  );
}

function notes(card, addNote) {
  const field = h("input", {
    class: "note-field",
    maxlength: "2000",
    placeholder: "A note for everybody",
    "aria-label": "A note on the row that is read",
    autocomplete: "off",
  });
  const form = h("form", { class: "note-form" }, field, h("button", { class: "small" }, "Add note"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    field.value = "";
    if (text) await addNote(card.node, text);
  });
  return [
    card.notes.length > 0 &&
      h(
        "ul",
        { class: "reading-notes" },
        card.notes.map((note) =>
          h(
            "li",
            {},
            h("b", {}, `${short(note.annotator, 30)}: `),
            h("span", { dir: "auto" }, linked(note.text)),
            h("span", { class: "quiet" }, ` ${ago(note.time)}`),
          ),
        ),
      ),
    form,
  ];
}
