// The curve of the report as SVG: the audit's accuracy with its interval, or, without an audit, what there is instead,
// called what it is.

import { count, h, percent, s } from "./dom.js";

const WIDTH = 270;
const HEIGHT = 142;
const EDGE = { left: 38, right: 10, top: 8, bottom: 24 };

/** A figure for a report of the API. */
export function curve(report) {
  const points = report.curve;
  const audited = points.some((point) => point.audit !== null);
  if (!audited && !points.some((point) => point.confidence !== null)) return null;
  const least = Math.min(...points.map((point) => point.labels));
  const most = Math.max(...points.map((point) => point.labels), least + 1);
  const x = (labels) => EDGE.left + ((labels - least) / (most - least)) * (WIDTH - EDGE.left - EDGE.right);
  const y = (share) => HEIGHT - EDGE.bottom - share * (HEIGHT - EDGE.top - EDGE.bottom);
  const lines = audited
    ? [band(points, x, y), line(points, (point) => point.audit?.mean, x, y, "audit")]
    : [
        line(points, (point) => point.confidence, x, y, "confidence"),
        line(points, (point) => point.changed, x, y, "changed"),
      ];
  const last = points.at(-1);
  const said = audited
    ? `accuracy on the audit: ${percent(last.audit?.mean ?? 0)} after ${count(last.labels, "label")}`
    : `mean confidence: ${last.confidence === null ? "not known" : percent(last.confidence)} ` +
      `after ${count(last.labels, "label")}`;
  return h(
    "figure",
    { class: "curve" },
    s(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Curve over the number of labels; ${said}` },
      grid(x, y, least, most),
      lines,
    ),
    h(
      "figcaption",
      {},
      audited
        ? [h("span", { class: "key audit" }), "accuracy on the audit with its 95 % interval"]
        : [
            h("span", { class: "key confidence" }),
            "how sure the classifier is, not how right ",
            h("span", { class: "key changed" }),
            "predictions changed since the point before",
          ],
    ),
  );
}

function grid(x, y, least, most) {
  return [
    [0, 0.5, 1].map((share) => [
      s("line", { class: "grid", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(share), y2: y(share) }),
      s("text", { class: "tick", x: EDGE.left - 5, y: y(share) + 3.5, "text-anchor": "end" }, percent(share)),
    ]),
    [least, most].map((labels, index) =>
      s(
        "text",
        { class: "tick", x: x(labels), y: HEIGHT - 8, "text-anchor": index ? "end" : "start" },
        index ? count(labels, "label") : labels,
      ),
    ),
  ];
}

function line(points, value, x, y, kind) {
  const seen = points.filter((point) => Number.isFinite(value(point)));
  return [
    s("polyline", {
      class: `line ${kind}`,
      points: seen.map((point) => `${x(point.labels)},${y(value(point))}`).join(" "),
    }),
    seen.map((point) =>
      s(
        "circle",
        { class: `dot ${kind}`, cx: x(point.labels), cy: y(value(point)), r: 3 },
        s("title", {}, `${count(point.labels, "label")}: ${percent(value(point))}`),
      ),
    ),
  ];
}

function band(points, x, y) {
  const seen = points.filter((point) => point.audit !== null);
  const upper = seen.map((point) => `${x(point.labels)},${y(point.audit.high)}`);
  const lower = seen.map((point) => `${x(point.labels)},${y(point.audit.low)}`).reverse();
  return s("polygon", { class: "band", points: [...upper, ...lower].join(" ") });
}
