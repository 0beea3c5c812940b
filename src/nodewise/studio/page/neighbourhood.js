// The neighbourhood of the node that is shown: labelled ones solid with a ring, predicted ones lighter and hollow, the
// rest grey.

import { at, get } from "./api.js";
import { called, count, h, kept, renew, settle, short, show } from "./dom.js";
import { look, tellBulk } from "./flow.js";
import { inkOn, legend, mark, paintOf, paints, shapeOf, trace } from "./marks.js";
import { classWords, peek, unpeek } from "./peek.js";
import { Scene } from "./scene.js";
import { pushApart, writeNames } from "./spacing.js";
import { blind, classes, moment, numberOf, on, state } from "./store.js";

const LIMIT = 150;
const NAMED = 40; // with more nodes than this, no names are written beside them
const LISTED = 60;
const FONT = getComputedStyle(document.body).fontFamily;

let scene = null;
let data = null;
let hops = Number(kept.read("hops", "1")) === 2 ? 2 : 1;
let asking = null;
let visible = true;
const parts = {};

/** The neighbourhood's view, to be put into a tab. */
export function neighbourhoodView() {
  const canvas = h("canvas", { class: "canvas", role: "img", "aria-label": "The neighbourhood, drawn" });
  parts.canvas = canvas;
  parts.hops = [1, 2].map((number) =>
    h(
      "button",
      {
        type: "button",
        class: "segment",
        "aria-pressed": String(number === hops),
        on: { click: () => setHops(number) },
      },
      number === 1 ? "1 hop" : "2 hops",
    ),
  );
  parts.note = h("p", { class: "quiet note" });
  parts.legend = h("div", { class: "legend" });
  parts.strip = h("div", { class: "strip", role: "group", "aria-label": "Pictures of the neighbours", hidden: true });
  parts.bulk = h("button", {
    type: "button",
    class: "small",
    hidden: true,
    title: "Label the unlabelled neighbours like this node, in bulk",
    on: { click: labelThese },
  });
  parts.list = h("ul", { class: "neighbours" });
  parts.summary = h("summary", {}, "As a list");
  parts.details = h("details", { class: "as-list" }, parts.summary, parts.list);
  parts.details.addEventListener("toggle", drawList);
  scene = new Scene(canvas, { paint, find, hover, pick: (item) => look(data.nodes[item].node), sized: space });
  on("card", () => {
    if (state.card?.node !== data?.centre) load();
    else scene.redraw();
  });
  on(
    "status",
    settle(
      () => {
        if (data?.moment !== moment()) load(true);
      },
      60,
      300,
    ),
  );
  on("query", () => scene.redraw());
  return h(
    "div",
    { class: "view neighbourhood" },
    h(
      "div",
      { class: "stage" },
      canvas,
      h("div", { class: "segments corner", role: "group", "aria-label": "How far to look" }, parts.hops),
    ),
    parts.strip,
    h("div", { class: "below" }, parts.note, parts.legend, parts.bulk, parts.details),
  );
}

export function showNeighbourhood(now) {
  visible = now;
  if (now) load(true);
}

export function setHops(number = hops === 1 ? 2 : 1) {
  hops = number;
  kept.write("hops", String(hops));
  for (const [index, button] of parts.hops.entries()) button.setAttribute("aria-pressed", String(index + 1 === hops));
  load();
}

async function load(again = false) {
  const node = state.card?.node;
  if (!visible || node === undefined) return;
  asking?.abort();
  asking = new AbortController();
  const mine = moment();
  parts.canvas.classList.toggle("waiting", !again);
  try {
    const answer = await get(
      `/nodes/${node}/neighbourhood?hops=${hops}&limit=${LIMIT}&annotator=${encodeURIComponent(state.me)}`,
      asking.signal,
    );
    if (answer.centre !== state.card?.node) return;
    const moved = data?.centre !== answer.centre || data?.hops !== hops;
    data = { ...answer, hops, near: adjacency(answer), moment: mine };
    if (moved) {
      unpeek();
      scene.hovered = -1;
      scene.frame(
        answer.nodes.map((node) => node.x),
        answer.nodes.map((node) => node.y),
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

/** Move nodes that lie on top of each other a little apart; `wx` and `wy` are where they are drawn. */
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

function adjacency({ nodes, edges }) {
  const near = nodes.map(() => []);
  for (const [one, other] of edges) {
    near[one].push(other);
    near[other].push(one);
  }
  return near;
}

const guess = (node) => (blind() ? -1 : numberOf(node.predicted));

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
  context.lineWidth = 1;
  context.strokeStyle = colours.edge;
  context.globalAlpha = data.edges.length > 800 ? 0.35 : 0.75;
  context.beginPath();
  for (const [one, other] of data.edges) {
    context.moveTo(...spots[one]);
    context.lineTo(...spots[other]);
  }
  context.stroke();
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
    paintNode(context, colours, data.nodes[item], spots[item], item === active);
  if (data.nodes.length <= NAMED) {
    context.font = `11.5px ${FONT}`;
    const names = data.nodes.map((node) =>
      node.title || node.name !== String(node.node) ? called(node, 24) : String(node.node + 1),
    );
    writeNames(context, colours, names, spots, data.nodes.map(radius), scene.width, scene.height);
  }
  scene.cross(context, colours.ink);
}

function paintNode(context, colours, node, [x, y], active) {
  const reach = radius(node);
  const label = numberOf(node.label);
  const asked = node.node === state.query?.node;
  const number = label >= 0 ? label : asked ? -1 : guess(node);
  const colour = paintOf(number);
  context.fillStyle = colours.panel;
  trace(context, shapeOf(number), x, y, reach + 2);
  context.fill();
  if (asked || node.hop === 0) {
    context.strokeStyle = colours.accent;
    context.lineWidth = asked ? 3 : 1.5;
    context.beginPath();
    context.arc(x, y, reach + 6, 0, 7);
    context.stroke();
  }
  trace(context, shapeOf(number), x, y, reach);
  context.fillStyle = colour;
  context.globalAlpha = label >= 0 ? 1 : number >= 0 ? 0.12 + 0.22 * (node.sure ?? 0) : 0.12;
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = label >= 0 ? 2.4 : active ? 2.6 : 1.6;
  context.strokeStyle = label >= 0 ? colours.ink : colour;
  if (label < 0 && number >= 0) context.setLineDash([3, 2.2]);
  context.stroke();
  context.setLineDash([]);
  if (reach < 6.5 || (number < 0 && !asked)) return;
  context.fillStyle = label >= 0 ? inkOn(colour) : colours.ink;
  context.font = `600 ${Math.round(reach * (number >= 9 ? 0.95 : 1.12))}px ${FONT}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(asked && label < 0 ? "?" : String(number + 1), x, y + 0.5);
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

function words(node) {
  return classWords(node.node, node.label, node.predicted, node.sure);
}

function hover(item, x, y) {
  if (item < 0) {
    unpeek();
    return;
  }
  const node = data.nodes[item];
  peek(node.node, node.title || node.name, `${words(node)} · ${count(node.degree, "neighbour")}`, x, y);
}

function drawWords() {
  const around = data.nodes.length - 1;
  const [one, many] = data.hops === 1 ? ["neighbour", "neighbours"] : ["node within two hops", "nodes within two hops"];
  const all = `${data.exact === false ? "at least " : ""}${(data.total - 1).toLocaleString("en")}`;
  show(
    parts.note,
    around === 0
      ? "It has no neighbours."
      : data.hidden > 0
        ? `Showing ${around.toLocaleString("en")} of ${all} ${many}: labelled ones and the best connected first.`
        : count(around, one, many),
  );
  const used = data.nodes
    .slice(0)
    .map((node) => [numberOf(node.label), node.node === state.query?.node ? -1 : guess(node)]);
  show(parts.legend, legend(used));
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
          { type: "button", class: "thumb", title: called(node), on: { click: () => look(node.node) } },
          h("img", {
            src: at(`/nodes/${node.node}/picture`),
            alt: called(node, 60),
            loading: "lazy",
          }),
        ),
      ),
  );
}

/** The neighbours that nobody has labelled, and the label of the node in the middle, which they could get too. */
function drawBulk() {
  const label = data.nodes[0]?.label ?? null;
  const free = data.nodes.filter((node) => node.hop === 1 && node.label === null && node.node !== state.query?.node);
  parts.bulk.hidden = label === null || free.length === 0 || data.hops !== 1;
  if (!parts.bulk.hidden) show(parts.bulk, `These ${count(free.length, "neighbour")} too: ${short(label, 30)}`);
}

function labelThese() {
  const label = data.nodes[0]?.label;
  const free = data.nodes.filter((node) => node.hop === 1 && node.label === null && node.node !== state.query?.node);
  tellBulk(
    free.map((node) => ({ node: node.node, label })),
    `${count(free.length, "neighbour")} labelled ${label}`,
  );
}

function drawList() {
  if (data === null || !parts.details.open) return;
  const listed = data.nodes.slice(1, LISTED + 1);
  renew(parts.list, [listed.map((node) => [node.node, words(node)]), classes()], () => [
    listed.map((node) => {
      const label = numberOf(node.label);
      return h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: "row", on: { click: () => look(node.node) } },
          mark(label >= 0 ? label : guess(node), label < 0),
          h("span", { class: "name", dir: "auto" }, called(node)),
          h("span", { class: "quiet" }, words(node)),
        ),
      );
    }),
    data.nodes.length - 1 > LISTED &&
      h("li", { class: "quiet" }, `… and ${data.nodes.length - 1 - LISTED} more in the picture.`),
  ]);
}
