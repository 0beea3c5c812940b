// The map of the whole graph: a fixed layout, labelled nodes bold, predicted ones faint, the asked one marked.

import { cancellable, get } from "./api.js";
import { h, icon, settle, show } from "./dom.js";
import { numbersOf } from "./labels.js";
import { inside, makeSelection } from "./lasso.js";
import { fillMark, legend, paints } from "./marks.js";
import { classWords, peek, unpeek } from "./peek.js";
import { Scene } from "./scene.js";

let scene = null;
let chosen = null;
let layout = null;
let colours = null;
let visible = false;
let loading = false;
let drawn = null; // which moment the colours are of
const parts = {};
/**
 * @type {{card: any, query: any, me: string, moment: string, blind: boolean, unlearned: boolean, isLabeller: boolean}}
 *   what it is drawn from: the row, the question, who looks and when, what may be seen
 */
let seen;
/**
 * @type {{look: (node: number) => void, fetchCard: (node: number) => Promise<any>,
 *   tellBulk: (labels: {node: number, label: string}[], words: string) => Promise<boolean>}} what is asked for in it
 */
let acts;

/** The map, for a tab; `draw`: another row or question; `redraw`: other labels. */
export function mapView(/** @type {typeof seen} */ given, /** @type {typeof acts} */ heard) {
  [seen, acts] = [given, heard];
  const canvas = h("canvas", { class: "canvas", role: "img", "aria-label": "Map of the whole graph" });
  parts.note = h("p", { class: "quiet note", role: "status" });
  parts.legend = h("div", { class: "legend" });
  const zoom = (text, label, action) =>
    h("button", { type: "button", class: "segment", "aria-label": label, on: { click: action } }, text);
  scene = new Scene(canvas, {
    paint,
    find,
    hover,
    pick: (item) => (chosen.active() ? chosen.toggle(layout.nodes[item]) : acts.look(layout.nodes[item])),
    lassoing: () => chosen.active(),
    take: (item) => chosen.toggle(layout.nodes[item]),
    lassoed: (line) =>
      chosen.add(layout.nodes.filter((_, item) => inside(line, scene.toX(layout.x[item]), scene.toY(layout.y[item])))),
  });
  const map = {
    changed: () => scene.redraw(),
    labelOf: (node) => textOf(colours?.labelled, layout.itemOf.get(node)),
    guessOf: (node) => (seen.blind ? null : textOf(colours?.predicted, layout.itemOf.get(node))),
  };
  chosen = makeSelection(map, seen, (labels, words) => acts.tellBulk(labels, words));
  const draw = () => {
    chosen.button.hidden = !seen.isLabeller;
    if (layout !== null && seen.blind) drawWords(); // at once: what was predicted before must not stay in sight
    scene.redraw();
  };
  const view = h(
    "div",
    { class: "view map" },
    h(
      "div",
      { class: "stage" },
      canvas,
      h(
        "div",
        { class: "segments corner", role: "group", "aria-label": "Zoom and choose" },
        chosen.button,
        zoom(icon("minus"), "Further away", () => scene.zoom(1 / 1.5)),
        zoom(icon("plus"), "Closer", () => scene.zoom(1.5)),
        zoom(icon("fit"), "See all", () => scene.fit()),
      ),
    ),
    chosen.view,
    h("div", { class: "below" }, parts.note, parts.legend),
  );
  const shown = (now) => {
    visible = now;
    if (now) load();
  };
  return { view, shown, draw, redraw: settle(() => recolour(), 60, 300) };
}

/** Begin to choose nodes on the map, or end it. */
export function startLasso() {
  chosen.turn();
  if (chosen.active()) scene.canvas.focus();
}

async function load() {
  if (layout !== null) {
    recolour();
    return;
  }
  if (loading) return;
  loading = true;
  const work = cancellable();
  show(
    parts.note,
    h("span", { class: "spinner", "aria-hidden": "true" }),
    "The map is being laid out … ",
    h("button", { type: "button", class: "small", on: { click: work.cancel } }, "Cancel"),
  );
  try {
    const answer = await get(work.path("/map"), work.signal);
    const itemOf = new Map(answer.nodes.map((node, item) => [node, item]));
    layout = { ...answer, itemOf };
    drawWords();
    scene.frame(answer.x, answer.y);
    await recolour();
  } catch (error) {
    show(
      parts.note,
      work.cancelled() ? "The map was not drawn. " : `The map could not be fetched: ${error.message}. `,
      h("button", { type: "button", class: "small", on: { click: load } }, work.cancelled() ? "Draw it" : "Try again"),
    );
  }
  loading = false;
}

async function recolour() {
  if (!visible || layout === null || drawn === seen.moment) return;
  const mine = seen.moment;
  try {
    colours = await get(`/map/colours?annotator=${encodeURIComponent(seen.me)}`);
    colours.numbers = colours.classes.map(numbersOf);
    drawn = mine;
    if (chosen.active()) chosen.draw();
    drawWords();
    scene.redraw();
  } catch {
    /* the colours stay as they are; the next change brings new ones */
  }
}

/** What the colours say of a node, as a text; null where they say nothing. */
const textOf = (indices, item) => colours?.classes[indices?.[item] ?? -1] ?? null;
const numbersAt = (indices, item) => colours?.numbers[indices?.[item] ?? -1] ?? null;
const labelOf = (item) => numbersAt(colours?.labelled, item);
const guessOf = (item) => (seen.blind ? null : numbersAt(colours?.predicted, item));

function paint(context) {
  if (layout === null) return;
  const tints = paints();
  const { nodes, x, y } = layout;
  const spots = nodes.map((_, item) => [scene.toX(x[item]), scene.toY(y[item])]);
  const inside = ([left, top]) => left > -20 && top > -20 && left < scene.width + 20 && top < scene.height + 20;
  if (layout.edges.length) {
    context.strokeStyle = tints.edge;
    context.lineWidth = 0.7;
    context.globalAlpha = Math.min(0.6, 0.1 + 250 / layout.edges.length);
    context.beginPath();
    for (const [one, other] of layout.edges) {
      context.moveTo(...spots[one]);
      context.lineTo(...spots[other]);
    }
    context.stroke();
  }
  const size = Math.max(1.8, Math.min(5, 60 / Math.sqrt(nodes.length))) * Math.min(3, scene.scale ** 0.5);
  for (let item = 0; item < nodes.length; item++) {
    if (labelOf(item) || !inside(spots[item])) continue;
    const guess = guessOf(item);
    context.globalAlpha = guess === null ? 0.45 : 0.35 + 0.35 * (colours?.sure[item] ?? 0);
    const [x, y] = spots[item];
    fillMark(context, guess ?? [], x, y, size);
  }
  context.globalAlpha = 1;
  for (let item = 0; item < nodes.length; item++) {
    const label = labelOf(item);
    if (label === null || !inside(spots[item])) continue;
    const [x, y] = spots[item];
    fillMark(context, label, x, y, Math.max(4.6, size * 1.5));
    context.strokeStyle = tints.ink;
    context.lineWidth = 1.8;
    context.stroke();
  }
  for (let item = 0; item < nodes.length; item++)
    if (chosen.has(nodes[item]))
      ring(context, { ...tints, accent: tints.ink }, spots, nodes[item], Math.max(6, size * 2), 2);
  scene.trail(context, tints.accent);
  ring(context, tints, spots, seen.card?.node, 9, 1.6);
  ring(context, tints, spots, seen.query?.node, 11, 3);
  if (scene.hovered >= 0) ring(context, { ...tints, accent: tints.ink }, spots, nodes[scene.hovered], 7, 1.6);
  scene.cross(context, tints.ink);
}

function ring(context, tints, spots, node, reach, width) {
  const item = layout.itemOf.get(node);
  if (item === undefined) return;
  context.beginPath();
  context.arc(...spots[item], reach, 0, 7);
  context.strokeStyle = tints.panel;
  context.lineWidth = width + 3;
  context.stroke();
  context.strokeStyle = tints.accent;
  context.lineWidth = width;
  context.stroke();
}

function find(x, y, reach) {
  let best = -1;
  let nearest = reach;
  for (let item = 0; item < (layout?.nodes.length ?? 0); item++) {
    const away = Math.hypot(scene.toX(layout.x[item]) - x, scene.toY(layout.y[item]) - y);
    if (away < nearest) {
      nearest = away;
      best = item;
    }
  }
  return best;
}

function hover(item, x, y) {
  if (item < 0) {
    unpeek();
    return;
  }
  const node = layout.nodes[item];
  const [label, predicted] = [textOf(colours?.labelled, item), textOf(colours?.predicted, item)];
  const words = classWords({ node, label, predicted, sure: colours?.sure[item] ?? null }, seen);
  peek(node, "", words, x, y, acts.fetchCard);
}

function drawWords() {
  const { nodes, total, sampled } = layout;
  const what = sampled
    ? `${nodes.length.toLocaleString("en")} of ${total.toLocaleString("en")} rows, a sample`
    : `${total.toLocaleString("en")} rows`;
  const from = colours?.predictions_from;
  const away = seen.query && !layout.itemOf.has(seen.query.node) ? " The asked row is not in the sample." : "";
  show(
    parts.note,
    `${what}${from ? ` · predicted from ${from} ${from === 1 ? "label" : "labels"}` : ""}.${away}`,
    colours?.updating &&
      h("span", { class: "updating" }, h("span", { class: "spinner", "aria-hidden": "true" }), "updating"),
  );
  if (colours) show(parts.legend, legend(nodes.map((_, item) => [labelOf(item), guessOf(item)])));
}
