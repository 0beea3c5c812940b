// Relations in the neighbourhood: lines by name, colour and dash; nodes of other types by shape and name; their legend.

import { count, h, s, short } from "./dom.js";
import { paints } from "./marks.js";

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 2], [12, 3]];
const SHAPES = 4; // hexagon, pentagon, star, cross; classes have circle, square, diamond and triangle
const LISTED = 8;

/** The nodes of other types, as the drawing needs them: they have no class, and `type` says what they are. */
export function otherNodes({ related }) {
  const types = [...new Set((related?.others ?? []).map((node) => node.type))].sort();
  return (related?.others ?? []).map((node) => ({
    ...node,
    shape: types.indexOf(node.type),
    label: null,
    predicted: null,
    sure: null,
  }));
}

/** In which order names are written: the centre's, those of other types, which nothing else tells, then the rest. */
export const namesFirst = (nodes) =>
  [...nodes.keys()].sort((one, other) => rank(nodes[one], one) - rank(nodes[other], other) || one - other);

const rank = (node, item) => (item === 0 ? 0 : node.type === undefined ? 3 : node.hop);

/** Draw the edges of each relation in its own colour and dash; one within a type has an arrow at its target. */
export function paintRelations(context, { edges, related }, spots, radius) {
  context.lineWidth = 1.5;
  for (const [number, relation] of related.relations.entries()) {
    context.strokeStyle = context.fillStyle = lineColour(number);
    context.setLineDash(dashOf(number));
    context.beginPath();
    const mine = edges.filter((_, at) => related.edge_relations[at] === number);
    for (const [one, other] of mine) {
      context.moveTo(...spots[one]);
      context.lineTo(...spots[other]);
    }
    context.stroke();
    context.setLineDash([]);
    if (relation.source === relation.target)
      for (const [one, other] of mine) arrow(context, spots[one], spots[other], radius(other) + 3);
  }
}

function arrow(context, [fromX, fromY], [toX, toY], gap) {
  const long = Math.hypot(toX - fromX, toY - fromY);
  if (long < gap + 8) return;
  const [dx, dy] = [(toX - fromX) / long, (toY - fromY) / long];
  const [x, y] = [toX - dx * gap, toY - dy * gap];
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - 7 * dx + 3.5 * dy, y - 7 * dy - 3.5 * dx);
  context.lineTo(x - 7 * dx - 3.5 * dy, y - 7 * dy + 3.5 * dx);
  context.fill();
}

/** Draw a node of another type: an outline of its type's shape. */
export function paintOther(context, node, [x, y], reach, active) {
  const colours = paints();
  context.beginPath();
  for (const [cornerX, cornerY] of corners(node.shape)) context.lineTo(x + reach * cornerX, y + reach * cornerY);
  context.closePath();
  context.fillStyle = colours.panel;
  context.fill();
  context.lineWidth = active ? 2.6 : 1.6;
  context.strokeStyle = colours.muted;
  context.stroke();
}

/** What the lines and shapes mean: relations first, then types. */
export function relationLegend({ nodes, edges, related }) {
  if (!related) return null;
  const drawn = related.relations
    .map((relation, number) => ({ ...relation, number, edges: related.edge_relations.filter((at) => at === number) }))
    .filter((relation) => relation.edges.length > 0);
  const types = [...new Map(nodes.filter((node) => node.type).map((node) => [node.type, node.shape]))];
  return (
    edges.length > 0 &&
    h(
      "ul",
      { class: "legend-relations", "aria-label": "Relations and types" },
      drawn
        .slice(0, LISTED)
        .map((relation) =>
          h(
            "li",
            { title: `${relation.source} – ${relation.name} – ${relation.target}` },
            sample(line(relation.number)),
            h("span", { class: "name", dir: "auto" }, short(relation.name, 40)),
            h("span", { class: "quiet" }, relation.edges.length.toLocaleString("en")),
          ),
        ),
      drawn.length > LISTED && h("li", { class: "quiet" }, `and ${drawn.length - LISTED} more relations`),
      types.map(([type, shape]) =>
        h(
          "li",
          {},
          sample(outline(shape)),
          h("span", { class: "name", dir: "auto" }, short(type, 40)),
          h("span", { class: "quiet" }, nodes.filter((node) => node.type === type).length.toLocaleString("en")),
        ),
      ),
    )
  );
}

/** What is shown around a node: how many of each type. */
export function typeCounts({ nodes, related }) {
  const tally = new Map();
  for (const node of nodes.slice(1)) {
    const type = node.type ?? related.labelled;
    tally.set(type, (tally.get(type) ?? 0) + 1);
  }
  return [...tally].map(([type, many]) => count(many, short(type, 40))).join(", ");
}

/** By which relations a node is joined to others that are shown, in words. */
export function relationWords({ edges, related }, item) {
  const names = edges
    .map((edge, at) => (edge.includes(item) ? related.relations[related.edge_relations[at]].name : null))
    .filter(Boolean);
  return [...new Set(names)].map((name) => short(name, 40)).join(", ");
}

const lineColour = (number) => paints().relations[number % paints().relations.length];
const dashOf = (number) => DASHES[number % DASHES.length];

function line(number) {
  const dashes = dashOf(number).join(" ");
  return s("path", {
    d: "M1 9H23",
    class: "relation-line",
    "stroke-dasharray": dashes,
    data: { relation: number % 6 },
  });
}

function outline(shape) {
  const points = corners(shape).map(([x, y]) => `${(12 + 7 * x).toFixed(1)},${(9 + 7 * y).toFixed(1)}`);
  return s("polygon", { points: points.join(" "), class: "type-shape" });
}

const sample = (drawing) =>
  s("svg", { viewBox: "0 0 24 18", width: "24", height: "18", "aria-hidden": "true" }, drawing);

/** The corners of a type's shape around 0, 0, of about the area of a circle of radius 1. */
function corners(shape) {
  const kind = shape % SHAPES;
  const round = (many, reach) =>
    Array.from({ length: many }, (_, at) => {
      const angle = (2 * Math.PI * at) / many - Math.PI / 2;
      const far = typeof reach === "number" ? reach : reach[at % reach.length];
      return [far * Math.cos(angle), far * Math.sin(angle)];
    });
  if (kind === 0) return round(6, 1.1);
  if (kind === 1) return round(5, 1.15);
  if (kind === 2) return round(10, [1.4, 0.65]);
  const [arm, half] = [1.2, 0.42];
  const quarter = [
    [-half, -arm],
    [half, -arm],
    [half, -half],
  ];
  return [0, 1, 2, 3].flatMap((turn) =>
    quarter.map(([x, y]) => {
      const [cos, sin] = [
        [1, 0],
        [0, 1],
        [-1, 0],
        [0, -1],
      ][turn];
      return [x * cos - y * sin, x * sin + y * cos];
    }),
  );
}

/** A node of another type in the list of what is drawn. */
export function otherRow(data, node, item) {
  return h(
    "span",
    { class: "row other" },
    h("span", { class: "mark hollow", "aria-hidden": "true", data: { colour: "none" } }),
    h("span", { class: "name", dir: "auto" }, short(node.name, 90)),
    h("span", { class: "quiet" }, `${short(node.type, 40)} · ${relationWords(data, item)}`),
  );
}
