// Rows similar to one, chosen by boxes and labelled together: as one change, shown before it is made, with one undo.

import { openAction } from "./acting.js";
import { get } from "./api.js";
import { dialog } from "./dialogs.js";
import { called, count, h, keepFocus, sentence, short, show } from "./dom.js";
import { sureness, wordsOf } from "./labels.js";
import { classMark } from "./marks.js";

const NUMBERS = [10, 20, 50, 100];

/**
 * Show the rows most similar to one.
 *
 * @param {{node: number, heading: string, label: string | null}} row the one.
 * @param {{me: string, status: any, blind: boolean, isLabeller: boolean}} seen
 * @param {Parameters<typeof openAction>[2]} acts
 */
export function openSimilar(row, seen, acts) {
  const { me, blind, isLabeller } = seen;
  const view = { most: 20, labelled: false, rows: [], chosen: new Set(), turn: 0 };
  const list = h("ul", { class: "similar-list", "aria-label": "Similar rows" });
  const said = h("p", { class: "quiet", role: "status" }, "One moment …");
  const bar = h("div", { class: "buttons similar-bar" });

  const load = async () => {
    const mine = ++view.turn;
    const query = `limit=${view.most}&labelled=${view.labelled}&annotator=${encodeURIComponent(me)}`;
    try {
      const found = await get(`/nodes/${row.node}/similar?${query}`);
      if (mine !== view.turn) return;
      view.rows = found.rows;
      const there = new Set(view.rows.map(({ node }) => node));
      for (const node of view.chosen) if (!there.has(node)) view.chosen.delete(node);
      show(
        said,
        view.rows.length === 0
          ? "No row that may be labelled with others is similar to this one."
          : found.by === "features"
            ? "The most similar first, by what the rows and their neighbours hold; no label or prediction enters. "
            : "The most similar first, by the neighbours that they share; no label or prediction enters. ",
        view.rows.length > 0 && "Rows to be judged one by one are not among them.",
      );
      draw();
    } catch (error) {
      if (mine !== view.turn) return;
      view.rows = [];
      draw();
      show(said, sentence(error.message));
    }
  };
  const line = (each) => {
    const box = h("input", {
      type: "checkbox",
      "aria-label": `Choose ${called(each)}`,
      on: {
        change: () => {
          if (box.checked) view.chosen.add(each.node);
          else view.chosen.delete(each.node);
          drawBar();
        },
      },
    });
    box.checked = view.chosen.has(each.node);
    return h(
      "li",
      { data: { node: each.node } },
      h(
        "label",
        {},
        isLabeller && box,
        h(
          "span",
          { class: "similar-row" },
          h("b", { dir: "auto" }, called(each)),
          each.text && each.text !== each.title && h("span", { class: "similar-text", dir: "auto" }, each.text),
          h(
            "span",
            { class: "quiet similar-facts" },
            `likeness ${each.likeness.toFixed(2)}`,
            each.label !== null && [" · labelled ", classMark(each.label), ` ${short(wordsOf(each.label), 40)}`],
            each.label === null &&
              each.predicted !== null && [
                " · predicted ",
                classMark(each.predicted, true),
                ` ${short(wordsOf(each.predicted), 40)}, ${sureness(each.sure)}`,
              ],
          ),
        ),
      ),
    );
  };
  const draw = () => {
    const held = keepFocus(list);
    show(list, view.rows.map(line));
    held?.();
    drawBar();
  };
  const choose = (nodes) => {
    view.chosen = new Set(nodes);
    draw();
  };
  const act = () =>
    openAction(
      {
        action: "label",
        rows: { nodes: [...view.chosen] },
        label: row.label ?? "",
        beside: `They are similar to “${short(row.heading, 80)}”, which is not among them.`,
      },
      seen,
      acts,
      acted,
    );
  const acted = () => {
    view.chosen.clear();
    load();
  };
  const button = (words, action, disabled = false, kind = "small") =>
    h("button", { type: "button", class: kind, disabled, on: { click: action } }, words);
  const drawBar = () => {
    const held = keepFocus(bar);
    const chosen = view.chosen.size;
    show(
      bar,
      isLabeller && [
        button("Choose all shown", () => choose(view.rows.map(({ node }) => node)), view.rows.length === 0),
        button("Choose none", () => choose([]), chosen === 0),
        button(`Label ${count(chosen, "row")} …`, act, chosen === 0, "small primary"),
      ],
    );
    held?.();
  };
  const number = h(
    "select",
    {
      "aria-label": "How many rows",
      on: {
        change: () => {
          view.most = Number(number.value);
          load();
        },
      },
    },
    NUMBERS.map((each) => h("option", { value: String(each) }, `the ${each} most similar`)),
  );
  number.value = String(view.most);
  const labelled = h("input", {
    type: "checkbox",
    on: {
      change: () => {
        view.labelled = labelled.checked;
        load();
      },
    },
  });
  const box = dialog(
    "Similar rows",
    () =>
      h(
        "div",
        { class: "dialog-body" },
        h("p", { class: "similar-to", dir: "auto" }, "To ", h("b", {}, short(row.heading, 200))),
        h("div", { class: "similar-tools" }, number, h("label", { class: "check" }, labelled, "also labelled ones")),
        blind &&
          h(
            "p",
            { class: "notice" },
            "No prediction is shown here until you have answered the row that you are asked about.",
          ),
        said,
        list,
        bar,
      ),
    "wide",
  );
  box.classList.add("similar-dialog");
  drawBar();
  load();
}
