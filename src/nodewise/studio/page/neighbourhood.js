// The neighbourhood of the node that is shown: labelled ones solid with a ring, predicted ones lighter and hollow, the
// rest grey. What relations and other types look like stands in relations.js.

import { at, get } from "./api.js";
import { called, count, h, kept, renew, settle, short, show } from "./dom.js";
import { classes, numbersOf, wordsOf } from "./labels.js";
import { classMark, fillMark, inkOn, legend, paintOf, paints, shapeOfAll, trace } from "./marks.js";
import { classWords, peek, tip, unpeek } from "./peek.js";
import {
  namesFirst,
  otherNodes,
  otherRow,
  paintOther,
  paintRelations,
  relationLegend,
  relationWords,
  typeCounts,
} from "./relations.js";
import { Scene } from "./scene.js";
import { pushApart, writeNames } from "./spacing.js";

const LIMIT = 150;
const RELATED = 40; // with nodes of several types, whose names are to be read
const NAMED = 40; // with more nodes than this, no names are written beside them
const LISTED = 60;
const FONT = getComputedStyle(document.body).fontFamily;

let scene = null;
let data = null;
let chosen = kept.read("hops", ""); // nothing: with relations two, so that those who share something are in sight
let hops = chosen === "2" ? 2 : 1;
let asking = null;
let visible = true;
const parts = {};
/** @type {{card: any, query: any, me: string, moment: string, blind: boolean, unlearned: boolean}} it is drawn from */
let seen;
/**
 * @type {{look: (node: number) => void, fetchCard: (node: number) => Promise<any>,
 *   tellBulk: (labels: {node: number, label: string}[], words: string) => void}} what is asked for in it
 */
let acts;

/** The neighbourhood of the row that is shown, for a tab; `draw`: another row; `redraw`: other labels. */
export function neighbourhoodView(/** @type {typeof seen} */ given, /** @type {typeof acts} */ heard) {
  [seen, acts] = [given, heard];
  parts.canvas = h("canvas", { class: "canvas", role: "img", "aria-label": "The neighbourhood, drawn" });
  parts.hops = [1, 2].map((number) =>
    h(
      "button",
      {
        type: "button",
        class: "segment",
        "aria-pressed": String(number === hops),
        on: { click: () => setHops(number) },
      },
      number === 1 ? "1 step" : "2 steps",
    ),
  );
  parts.note = h("p", { class: "quiet note" });
  parts.legend = h("div", { class: "legend" });
  parts.strip = h("div", { class: "strip", role: "group", "aria-label": "Pictures of the neighbours", hidden: true });
  parts.bulk = h("button", {
    type: "button",
    class: "small",
    hidden: true,
    title: "Label the unlabelled neighbours like this row, in bulk",
    on: { click: labelThese },
  });
  parts.list = h("ul", { class: "neighbours" });
  parts.summary = h("summary", {}, "As a list");
  parts.details = h("details", { class: "as-list" }, parts.summary, parts.list);
  parts.details.addEventListener("toggle", drawList);
  scene = new Scene(parts.canvas, { paint, find, hover, pick, sized: space });
  const draw = () => {
    if (data !== null && seen.blind) drawWords(); // at once: what was predicted before must not stay in sight
    if (seen.card?.node !== data?.centre) load();
    else scene.redraw();
  };
  const redraw = settle(
    () => {
      if (data?.moment !== seen.moment) load(true);
    },
    60,
    300,
  );
  const shown = (now) => {
    visible = now;
    if (now) load(true);
  };
  const view = h(
    "div",
    { class: "view neighbourhood" },
    h(
      "div",
      { class: "stage" },
      parts.canvas,
      h("div", { class: "segments corner", role: "group", "aria-label": "How far to look" }, parts.hops),
    ),
    parts.strip,
    h("div", { class: "below" }, parts.note, parts.legend, parts.bulk, parts.details),
  );
  return { view, shown, draw, redraw };
}

export function setHops(number = hops === 1 ? 2 : 1) {
  chosen = String(number);
  kept.write("hops", chosen);
  lookAround(number);
}

function lookAround(number) {
  hops = number;
  for (const [index, button] of parts.hops.entries()) button.setAttribute("aria-pressed", String(index + 1 === hops));
  load();
}

function pick(item) {
  if (data.nodes[item].type === undefined) acts.look(data.nodes[item].node);
}

async function load(again = false) {
  const node = seen.card?.node;
  if (!visible || node === undefined) return;
  asking?.abort();
  asking = new AbortController();
  const mine = seen.moment;
  parts.canvas.classList.toggle("waiting", !again);
  try {
    const limit = data?.related ? RELATED : LIMIT;
    const query = `hops=${hops}&limit=${limit}&annotator=${encodeURIComponent(seen.me)}`;
    const answer = await get(`/nodes/${node}/neighbourhood?${query}`, asking.signal);
    if (answer.centre !== seen.card?.node) return;
    if (answer.related?.others.length && !chosen && hops === 1) {
      data = answer;
      return lookAround(2);
    }
    const moved = data?.centre !== answer.centre || data?.hops !== hops;
    const nodes = [...answer.nodes, ...otherNodes(answer)];
    data = { ...answer, nodes, hops, near: adjacency(nodes, answer.edges), moment: mine };
    if (moved) {
      unpeek();
      scene.hovered = -1;
      scene.frame(
        nodes.map((node) => node.x),
        nodes.map((node) => node.y),
      );
    }
    space();
    drawWords();
  } catch (error) {
    if (error.name === "AbortError") return;
    if (!again) {
      data = null;
      show(parts.note, `The neighbourhood could not be fetched: ${error.message}.`);
    }
  }
  parts.canvas.classList.remove("waiting");
  scene.redraw();
}

/** Move nodes that lie on top of each other a little aside; `wx` and `wy` are where they are drawn. */
function space() {
  if (data === null || scene.width === 0) return;
  const { scale, x, y } = scene;
  Object.assign(scene, { scale: 1, x: 0, y: 0 });
  const spots = data.nodes.map((node) => [scene.toX(node.x), scene.toY(node.y)]);
  pushApart(
    spots,
    data.nodes.map((node) => radius(node) + (node.hop === 0 ? 7 : 2)),
    scene.width,
    scene.height,
  );
  for (const [item, node] of data.nodes.entries())
    Object.assign(node, { wx: scene.fromX(spots[item][0]), wy: scene.fromY(spots[item][1]) });
  Object.assign(scene, { scale, x, y });
}

function adjacency(nodes, edges) {
  const near = nodes.map(() => []);
  for (const [one, other] of edges) {
    near[one].push(other);
    near[other].push(one);
  }
  return near;
}

const guess = (node) => (seen.blind ? null : numbersOf(node.predicted));

function radius(node) {
  if (node.hop === 0) return 13;
  const size = data.nodes.length > 80 ? 0.72 : data.nodes.length > 30 ? 0.86 : 1;
  return (
    size *
    (node.hop === 1 ? 8.5 + Math.min(3.5, Math.log2(1 + node.degree) / 2) : 6.5) *
    Math.min(1.5, Math.max(1, scene.scale ** 0.4))
  );
}

function paint(context) {
  if (data === null) return;
  const colours = paints();
  const spots = data.nodes.map((node) => [scene.toX(node.wx ?? node.x), scene.toY(node.wy ?? node.y)]);
  const active = scene.hovered;
  context.globalAlpha = data.edges.length > 800 ? 0.35 : 0.75;
  if (data.related) paintRelations(context, data, spots, (item) => radius(data.nodes[item]));
  else paintEdges(context, colours, spots);
  context.globalAlpha = 1;
  if (active >= 0) {
    context.strokeStyle = colours.ink;
    context.lineWidth = 1.6;
    context.beginPath();
    for (const other of data.near[active]) {
      context.moveTo(...spots[active]);
      context.lineTo(...spots[other]);
    }
    context.stroke();
  }
  for (let item = data.nodes.length - 1; item >= 0; item--)
    if (data.nodes[item].type === undefined)
      paintNode(context, colours, data.nodes[item], spots[item], item === active);
    else paintOther(context, data.nodes[item], spots[item], radius(data.nodes[item]), item === active);
  if (data.nodes.length <= NAMED || data.related) {
    context.font = `11.5px ${FONT}`;
    const names = data.nodes.map((node) => {
      if (data.nodes.length > NAMED && node.type === undefined && node.hop > 0) return "";
      return node.title || node.name !== String(node.node) ? called(node, 24) : String(node.node + 1);
    });
    const order = data.related ? namesFirst(data.nodes) : names.keys();
    const must = (item) => data.nodes[item].type !== undefined && data.nodes[item].hop === 1;
    const reaches = data.nodes.map(radius);
    writeNames(context, colours, names, spots, reaches, scene.width, scene.height, order, must);
  }
  scene.cross(context, colours.ink);
}

function paintEdges(context, colours, spots) {
  context.lineWidth = 1;
  context.strokeStyle = colours.edge;
  context.beginPath();
  for (const [one, other] of data.edges) {
    context.moveTo(...spots[one]);
    context.lineTo(...spots[other]);
  }
  context.stroke();
}

function paintNode(context, colours, node, [x, y], active) {
  const reach = radius(node);
  const label = numbersOf(node.label);
  const asked = node.node === seen.query?.node;
  const shown = label ?? (asked ? null : guess(node));
  const numbers = shown ?? [];
  const colour = paintOf(numbers[0] ?? -1);
  context.fillStyle = colours.panel;
  trace(context, shapeOfAll(numbers), x, y, reach + 2);
  context.fill();
  if (asked || node.hop === 0) {
    context.strokeStyle = colours.accent;
    context.lineWidth = asked ? 3 : 1.5;
    context.beginPath();
    context.arc(x, y, reach + 6, 0, 7);
    context.stroke();
  }
  context.globalAlpha = label ? 1 : shown ? 0.12 + 0.22 * (node.sure ?? 0) : 0.12;
  fillMark(context, numbers, x, y, reach);
  context.globalAlpha = 1;
  context.lineWidth = label ? 2.4 : active ? 2.6 : 1.6;
  context.strokeStyle = label ? colours.ink : colour;
  if (!label && shown) context.setLineDash([3, 2.2]);
  context.stroke();
  context.setLineDash([]);
  if (reach < 6.5 || (shown === null && !asked) || numbers.length > 1) return;
  context.fillStyle = label ? inkOn(colour) : colours.ink;
  context.font = `600 ${Math.round(reach * (numbers[0] >= 9 ? 0.95 : 1.12))}px ${FONT}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const one = numbers.length > 0 ? String(numbers[0] + 1) : "–"; // none of the classes
  context.fillText(asked && !label ? "?" : one, x, y + 0.5);
}

function find(x, y, reach) {
  let best = -1;
  let nearest = Infinity;
  data?.nodes.forEach((node, item) => {
    const away = Math.hypot(scene.toX(node.wx ?? node.x) - x, scene.toY(node.wy ?? node.y) - y) - radius(node);
    if (away < reach && away < nearest) {
      nearest = away;
      best = item;
    }
  });
  return best;
}

const words = (node) => classWords(node, seen);

function hover(item, x, y) {
  if (item < 0) {
    unpeek();
    return;
  }
  const node = data.nodes[item];
  if (node.type !== undefined) {
    tip(x, y, [short(node.name, 160), `${short(node.type, 40)} · ${relationWords(data, item)}`]);
    return;
  }
  peek(node.node, node.title || node.name, `${words(node)} · ${count(node.degree, "neighbour")}`, x, y, acts.fetchCard);
}

function drawWords() {
  const around = data.nodes.length - 1;
  const [one, many] = data.hops === 1 ? ["neighbour", "neighbours"] : ["row within two steps", "rows within two steps"];
  const all = `${data.exact === false ? "at least " : ""}${(data.total - 1).toLocaleString("en")}`;
  show(
    parts.note,
    around === 0
      ? "It has no neighbours."
      : data.hidden > 0
        ? `Showing ${around.toLocaleString("en")} of ${all} ${many}: labelled ones and the best connected first.`
        : data.related
          ? typeCounts(data)
          : count(around, one, many),
  );
  const used = data.nodes
    .filter((node) => node.type === undefined)
    .map((node) => [numbersOf(node.label), node.node === seen.query?.node ? null : guess(node)]);
  show(parts.legend, legend(used), relationLegend(data));
  parts.details.hidden = around === 0;
  drawStrip();
  drawBulk();
  parts.summary.textContent = `As a list (${around.toLocaleString("en")})`;
  drawList();
}

/** The pictures of the nearest neighbours; a click looks at one. */
function drawStrip() {
  const shown = data.nodes
    .slice(1)
    .filter((node) => node.picture)
    .slice(0, 12);
  parts.strip.hidden = shown.length === 0;
  renew(
    parts.strip,
    shown.map((node) => node.node),
    () =>
      shown.map((node) =>
        h(
          "button",
          { type: "button", class: "thumb", title: called(node), on: { click: () => acts.look(node.node) } },
          h("img", { src: at(`/nodes/${node.node}/picture`), alt: called(node, 60), loading: "lazy" }),
        ),
      ),
  );
}

/** The neighbours that nobody has labelled, and the label of the node in the middle, which they could get too. */
function drawBulk() {
  const label = data.nodes[0]?.label ?? null;
  const free = data.nodes.filter(isFree);
  parts.bulk.hidden = label === null || free.length === 0 || data.hops !== 1;
  if (!parts.bulk.hidden)
    show(parts.bulk, `These ${count(free.length, "neighbour")} too: ${short(wordsOf(label), 30)}`);
}

const isFree = (node) =>
  node.type === undefined && node.hop === 1 && node.label === null && node.node !== seen.query?.node;

function labelThese() {
  const label = data.nodes[0]?.label;
  const free = data.nodes.filter(isFree);
  acts.tellBulk(
    free.map((node) => ({ node: node.node, label })),
    `${count(free.length, "neighbour")} labelled ${wordsOf(label)}`,
  );
}

function drawList() {
  if (data === null || !parts.details.open) return;
  const listed = data.nodes.slice(1, LISTED + 1);
  renew(parts.list, [listed.map((node) => [node.type, node.node, words(node)]), classes()], () => [
    listed.map((node, at) => {
      if (node.type !== undefined) return h("li", {}, otherRow(data, node, at + 1));
      const known = node.label ?? (seen.blind ? null : node.predicted);
      return h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: "row", on: { click: () => acts.look(node.node) } },
          classMark(known, node.label === null),
          h("span", { class: "name", dir: "auto" }, called(node)),
          h("span", { class: "quiet" }, words(node)),
        ),
      );
    }),
    data.nodes.length - 1 > LISTED &&
      h("li", { class: "quiet" }, `… and ${data.nodes.length - 1 - LISTED} more in the picture.`),
  ]);
}
