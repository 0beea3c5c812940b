// The node that is shown: title, text, link, picture, further attributes; where one is, and what is known of its label.

import { at } from "./api.js";
import { ago, byId, called, count, h, icon, short, show } from "./dom.js";
import { keyed, keyHint } from "./hotkeys.js";
import { choiceWords, several, wordsOf } from "./labels.js";
import { classMark } from "./marks.js";
import { drawVoices } from "./voices.js";

const choice = h("p", { class: "choice-made" });
const voices = h("section", { class: "voices", id: "voices", "aria-label": "Who says what" });

/**
 * Draw the row that is shown.
 *
 * @param {{card: any, query: any, atHome: boolean, blind: boolean, isLabeller: boolean,
 *   standing: {names: string[], none: boolean}}} seen the row, the question, who looks, what is chosen for the row.
 * @param {{addNote: (node: number, text: string) => void, showSimilar: () => void, choose: (label: string) => void}}
 *   acts what is asked for.
 */
export function drawCard(seen, acts) {
  const view = byId("card");
  const { card, query, atHome } = seen;
  view.classList.toggle("looking", !atHome);
  if (card === null) return; // the closing view draws itself here
  view.scrollTop = 0;
  const title = card.heading;
  const text = rest(card.text, title);
  show(
    view,
    eyebrow(card, query, atHome),
    several() && choice,
    h("h1", { class: title.length > 90 ? "long" : null, dir: "auto" }, title),
    h(
      "p",
      { class: "facts" },
      facts(card),
      card.link && link(card.link),
      !isAudited(seen) &&
        h(
          "button",
          {
            type: "button",
            class: "small ghost",
            id: "similar-button",
            ...keyed("similar", "The rows most similar to this one, to label them together"),
            on: { click: () => acts.showSimilar() },
          },
          "Similar rows",
          keyHint("similar"),
        ),
    ),
    voices,
    card.picture && picture(card, title),
    text && h("div", { class: "text", role: "region", "aria-label": "Text", tabindex: "0", dir: "auto" }, linked(text)),
    card.cut && h("p", { class: "quiet" }, "It is longer than this; what is beyond is not shown."),
    attributes(card.attributes),
    noteList(card, acts.addNote),
    !card.text &&
      !card.picture &&
      !card.title &&
      Object.keys(card.attributes).length === 0 &&
      h(
        "p",
        { class: "quiet" },
        "The job holds no text, picture or other column for this row: " +
          "its place among the rows like it is all there is.",
      ),
  );
  drawVoices(voices, seen, acts.choose);
  drawChoice(seen);
}

/** What is said of the row may be other than when it was drawn. */
export const redrawVoices = (seen, { choose }) => drawVoices(voices, seen, choose);

/** Whether a row is one of the audit, as far as is known: rows like it are not labelled together. */
export const isAudited = ({ card, query, atHome }) => card.from === "audit" || (atHome && query?.audit === true);

/** Where a row may have several classes: which are chosen for it, and how many. */
export function drawChoice({ card, standing }) {
  if (!several() || card === null) return;
  const { names } = standing;
  show(
    choice,
    h("span", { class: "quiet" }, `${choiceWords(standing)}${names.length ? ":" : "."}`),
    names.map((name) => h("span", { class: "chip" }, classMark(name), h("span", { dir: "auto" }, short(name, 40)))),
  );
}

function eyebrow(card, query, atHome) {
  if (!atHome) {
    return h("p", { class: "eyebrow" }, h("span", { class: "pill" }, "Looking around"), label(card));
  }
  return h(
    "p",
    { class: "eyebrow" },
    query?.audit
      ? h(
          "span",
          {
            class: "pill audit",
            title: "Drawn at random: it measures how accurate the predictions are, and trains nothing.",
          },
          "Audit: drawn at random",
        )
      : h("span", { class: "pill asked" }, "Label this row"),
  );
}

/** What the label of a node that is looked at is, and who said so. */
function label(card) {
  if (card.label === null) return h("span", { class: "quiet" }, "not labelled yet");
  const from =
    { told: "labelled", bulk: "labelled in bulk", audit: "labelled for the audit", given: "came with the file" }[
      card.from
    ] ?? "labelled";
  const voters = Object.entries(card.votes);
  const split = new Set(voters.map(([, said]) => said)).size > 1;
  return h(
    "span",
    { class: "known" },
    classMark(card.label),
    h("b", {}, wordsOf(card.label)),
    h(
      "span",
      { class: "quiet" },
      ` ${from}${voters.length && !split ? ` by ${short(voters.map(([who]) => who).join(", "), 60)}` : ""}`,
    ),
    split &&
      h(
        "span",
        { class: "quiet" },
        `: ${voters.map(([who, said]) => `${short(who, 20)} says ${short(wordsOf(said), 30)}`).join(", ")}`,
      ),
  );
}

function facts(card) {
  const said = [];
  const name = called({ node: card.node, name: card.name }, 80);
  if (card.heading !== name) said.push(name);
  said.push(count(card.degree, "neighbour"));
  if (card.skipped_by.length) said.push(`skipped by ${short(card.skipped_by.join(", "), 60)}`);
  return h("span", {}, said.join(" · "));
}

/** The text without its first line, where that is the heading already. */
export const rest = (text, title) =>
  text?.startsWith(title) && /^\s*(\n|$)/.test(text.slice(title.length))
    ? text
        .slice(title.length)
        .replace(/^(\s*\n)+/, "")
        .trim()
    : text;

const ADDRESS = /https?:\/\/[^\s<>"'`{}|\\^]+/g;

/** A text whose addresses can be followed; all the rest stays text. */
export function linked(text) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(ADDRESS)) {
    const address = match[0].replace(/[.,;:!?)\]]+$/, "");
    if (!URL.canParse(address)) continue;
    parts.push(
      text.slice(from, match.index),
      h("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, address),
    );
    from = match.index + address.length;
  }
  return [...parts, text.slice(from)];
}

/** What people wrote to the node, and a line to write more. */
function noteList(card, addNote) {
  const field = h("input", {
    class: "note-field",
    maxlength: "2000",
    placeholder: "A note for everybody",
    "aria-label": "A note on this row for everybody",
    autocomplete: "off",
  });
  const form = h("form", { class: "note-form" }, field, h("button", { class: "small" }, "Add note"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) addNote(card.node, field.value.trim());
  });
  return h(
    "details",
    { class: "node-notes", open: card.notes.length > 0 },
    h("summary", {}, card.notes.length ? count(card.notes.length, "note") : "Add a note"),
    h(
      "ul",
      {},
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
  );
}

export function link(address) {
  return h(
    "a",
    { class: "outward", href: address, rel: "noopener noreferrer", target: "_blank", title: address },
    short(address.replace(/^https?:\/\//, ""), 60),
    icon("out"),
  );
}

export function picture(card, title) {
  const image = h("img", {
    class: "picture",
    src: at(`/nodes/${card.node}/picture`),
    alt: `Picture of ${short(title, 100)}`,
  });
  image.addEventListener("error", () => image.replaceWith(h("p", { class: "quiet" }, "Its picture cannot be shown.")));
  return image;
}

export function attributes(values) {
  const entries = Object.entries(values);
  return (
    entries.length > 0 &&
    h(
      "dl",
      { class: "attributes" },
      entries.map(([name, text]) => [h("dt", { dir: "auto" }, name), h("dd", { dir: "auto" }, linked(text))]),
    )
  );
}

/** The way back: the asked node, then every node looked at since. */
export function drawTrail({ trail, query }, { home, back, look }) {
  const view = byId("trail");
  view.hidden = trail.length === 0;
  if (view.hidden) {
    show(view);
    return;
  }
  const step = (text, action, here) =>
    h(
      "li",
      {},
      h("button", { type: "button", class: "step", "aria-current": here ? "page" : null, on: { click: action } }, text),
    );
  const shown = trail.slice(-3);
  show(
    view,
    h(
      "button",
      { type: "button", class: "back", on: { click: home } },
      icon("back"),
      query ? "Back to the asked row" : "Back",
      h("kbd", { "aria-hidden": "true" }, "Esc"),
    ),
    h(
      "ol",
      {},
      trail.length > shown.length && h("li", { class: "quiet" }, "…"),
      shown.map((node, index) =>
        step(
          short(node.name, 28),
          () => (index === shown.length - 1 ? null : look(node.node)),
          index === shown.length - 1,
        ),
      ),
    ),
    trail.length > 1 &&
      h("button", { type: "button", class: "step", title: "One step back", on: { click: back } }, "one step back"),
  );
}
