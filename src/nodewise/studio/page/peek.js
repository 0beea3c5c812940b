// What a tooltip says of a node: at once what the picture knows, and its title and text as soon as they are fetched.

import { called, h, short, show } from "./dom.js";
import { sureness, wordsOf } from "./labels.js";

const WAIT = 140;
const KEPT = 400;
const known = new Map();
const box = h("div", { class: "tooltip", role: "tooltip", hidden: true });
let timer = null;
let wanted = null;

/**
 * Show a tooltip for a node; `name` is what the picture calls it, `word` what it knows of its class, `fetchCard` brings
 * the rest.
 */
export function peek(node, name, word, x, y, fetchCard) {
  wanted = node;
  clearTimeout(timer);
  tip(x, y, lines(node, name, word));
  if (known.has(node)) return;
  timer = setTimeout(async () => {
    try {
      const card = await fetchCard(node);
      if (known.size >= KEPT) known.delete(known.keys().next().value);
      known.set(node, card.title || card.text || card.name);
    } catch {
      return;
    } // the tooltip stays as short as it is
    if (wanted === node) tip(x, y, lines(node, name, word));
  }, WAIT);
}

export function unpeek() {
  wanted = null;
  clearTimeout(timer);
  untip();
}

function lines(node, name, word) {
  return [called({ node, name: known.get(node) ?? name ?? null }, 160), word];
}

/** A node's class in words, for tooltips and lists. */
export function classWords({ node, label, predicted, sure }, { query, blind, unlearned }) {
  if (query?.node === node) return "asked now";
  if (label !== null) return `labelled ${short(wordsOf(label), 60)}`;
  if (predicted !== null && !blind)
    return `predicted ${short(wordsOf(predicted), 60)}${sure === null ? "" : `, ${sureness(sure)}`}`;
  return unlearned ? "unknown" : "not predicted";
}

/** Show lines of text near a point of the window; the first line is the strongest. */
export function tip(x, y, lines) {
  if (!box.isConnected) document.body.append(box);
  show(
    box,
    lines.filter(Boolean).map((line, index) => h("span", { class: index === 0 ? "strong" : "line" }, line)),
  );
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = Math.max(6, Math.min(innerWidth - width - 6, x + 14));
  const top = y + 18 + height > innerHeight ? y - height - 12 : y + 18;
  box.style.setProperty("transform", `translate(${Math.round(left)}px, ${Math.round(Math.max(6, top))}px)`);
}

function untip() {
  box.hidden = true;
}
