// What the review desk is made of: a row as a line of the table, and the choice of the job's own columns.

import { SESSION } from "./api.js";
import { ago, called, count, h, kept, percent, short, show } from "./dom.js";
import { aloneKnown, wordsOf } from "./labels.js";
import { classMark } from "./marks.js";

export const ROW = 34; // pixels, as in the style sheet
const OWN = 3; // own columns that are shown unless told otherwise

/** A row as a line: what is known of it, a box to choose it, and a button that reads it. */
export function lineOf(row, index, view, acts) {
  const box = h("input", { type: "checkbox", "aria-label": `Choose ${called(row, 40)}` });
  box.addEventListener("change", () => {
    if (box.checked) view.chosen.set(row.node, row);
    else view.chosen.delete(row.node);
    acts.chosen();
  });
  const here = row.node === view.current;
  const element = h(
    "div",
    {
      class: `table-row${row.label === null ? " unlabelled" : ""}${row.fits ? "" : " unfit"}${here ? " here" : ""}`,
      data: { node: row.node, index },
    },
    box,
    h(
      "button",
      {
        type: "button",
        class: "link name",
        dir: "auto",
        "aria-current": here ? "true" : null,
        title: row.fits ? null : "It no longer fits the filter",
        on: { click: () => acts.choose(Number(element.dataset.index)) },
      },
      called(row, 120),
    ),
    h(
      "span",
      { class: "name" },
      row.label !== null && [
        classMark(row.label),
        row.differs &&
          h("b", { class: "differs", role: "img", "aria-label": "people disagree", title: "People disagree" }, "≠"),
        " ",
        wordsOf(row.label),
        row.bulk && h("span", { class: "quiet" }, " (bulk)"),
      ],
      row.notes > 0 && h("span", { class: "quiet" }, ` · ${count(row.notes, "note")}`),
    ),
    h(
      "span",
      { class: "name" },
      row.predicted !== null && [classMark(row.predicted, true), " ", wordsOf(row.predicted)],
      (view.asked.model || view.asked.filters.includes("model")) &&
        row.suggested
          .filter((each) => each.label !== row.predicted)
          .map((each) => h("span", { class: "quiet" }, ` · ${short(each.by, 16)}: ${each.label}`)),
    ),
    h("span", { class: "figure" }, row.sure === null ? "" : aloneKnown() ? "–" : percent(row.sure)),
    h("span", { class: "quiet name" }, row.time === null ? "" : `${ago(row.time)} · ${short(row.by ?? "", 16)}`),
    (view.shown ?? []).map((name) =>
      h("span", { class: "name own", dir: "auto", title: row.cells[name] ?? null }, row.cells[name] ?? ""),
    ),
  );
  element.style.setProperty("top", `${index * ROW}px`);
  return element;
}

/**
 * Draw lines. A row that was there before keeps its line, with its box and its button, also where others come or go
 * around it: what is being pressed or has the focus must not be taken away.
 */
export function drawLines(body, lines) {
  const before = new Map([...body.children].map((line) => [line.dataset.node, line]));
  const drawn = lines.map((line) => {
    const own = before.get(line.dataset.node);
    if (own === undefined) return line;
    before.delete(line.dataset.node);
    renewLine(own, line);
    return own;
  });
  for (const line of before.values()) line.remove();
  let next = body.firstElementChild;
  for (const line of drawn)
    if (line === next) next = next.nextElementSibling;
    else body.insertBefore(line, next);
}

/** Have a line say what a new one of the same row says. */
function renewLine(line, fresh) {
  if (line.isEqualNode(fresh)) return;
  line.className = fresh.className;
  line.dataset.index = fresh.dataset.index;
  line.style.setProperty("top", fresh.style.getPropertyValue("top"));
  const [box, name, ...cells] = line.children;
  const [newBox, newName, ...newCells] = fresh.children;
  for (const [old, now] of [
    [box, newBox],
    [name, newName],
  ])
    for (const attribute of ["aria-label", "aria-current", "title"])
      if (now.hasAttribute(attribute)) old.setAttribute(attribute, now.getAttribute(attribute));
      else old.removeAttribute(attribute);
  name.textContent = newName.textContent;
  for (const cell of cells) cell.remove();
  line.append(...newCells);
}

/** Tick the boxes of the lines that are chosen. */
export function tick(body, view) {
  for (const line of body.children) {
    const box = line.querySelector("input[type=checkbox]");
    box.checked = view.all ? !line.classList.contains("unfit") : view.chosen.has(Number(line.dataset.node));
    box.disabled = view.all;
  }
}

/** Which of the job's own columns are shown: an element, and what draws it anew. */
export function ownColumns(view, changed) {
  const owns = h("details", { class: "own-columns" });
  const draw = () => {
    const all = view.columns.slice(0, 100);
    owns.hidden = all.length === 0;
    if (owns.dataset.drawn === JSON.stringify([all, view.shown])) return;
    owns.dataset.drawn = JSON.stringify([all, view.shown]);
    const wasOpen = owns.open;
    show(
      owns,
      h("summary", {}, `Columns (${(view.shown ?? []).length} of ${all.length})`),
      h(
        "div",
        { class: "filter-boxes" },
        all.map((name) => {
          const box = h("input", { type: "checkbox" });
          box.checked = (view.shown ?? []).includes(name);
          box.addEventListener("change", () => {
            view.shown = all.filter((each) => (each === name ? box.checked : view.shown?.includes(each))).slice(0, 20);
            kept.write(`columns.${SESSION}`, JSON.stringify(view.shown));
            changed();
          });
          return h("label", { dir: "auto" }, box, ` ${short(name, 40)}`);
        }),
      ),
    );
    owns.open = wasOpen;
  };
  return { element: owns, draw };
}

/** The columns that this browser showed last, or the first few that are not the row's title or text. */
export function chosenColumns(view) {
  try {
    const names = JSON.parse(kept.read(`columns.${SESSION}`, "null"));
    if (Array.isArray(names)) return names.filter((name) => view.columns.includes(name));
  } catch {
    /* nothing that this page wrote */
  }
  return view.columns.filter((name) => !view.captions.includes(name)).slice(0, OWN);
}
