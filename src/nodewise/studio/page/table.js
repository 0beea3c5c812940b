// The table of all nodes: filters, search, sort, a selection that is labelled in bulk. Only the rows in sight are
// drawn.

import { get } from "./api.js";
import { dialog } from "./dialogs.js";
import { ago, called, count, h, percent, settle, short, show } from "./dom.js";
import { look, tellBulk } from "./flow.js";
import { classMark } from "./marks.js";
import { classes, off, on, state } from "./store.js";

const ROW = 34; // pixels, as in the style sheet
const WINDOW = 100; // rows fetched at a time
const FILTERS = [
  ["all", "all"],
  ["labelled", "labelled"],
  ["unlabelled", "not labelled"],
  ["confident", "sure predictions, to review"],
  ["unsure", "unsure predictions"],
  ["mistake", "likely mistakes"],
  ["disagreement", "disagreements"],
  ["skipped", "skipped"],
];
const COLUMNS = [
  ["name", "Row"],
  ["label", "Label"],
  ["predicted", "Prediction"],
  ["sure", "Sure"],
  ["time", "When, who"],
];

/** Open the table over the page. */
export function openTable() {
  if (document.querySelector("dialog[open]")) return;
  const view = {
    filter: "all",
    label: "",
    q: "",
    sort: "node",
    descending: false,
    total: 0,
    rows: new Map(),
    asked: new Set(),
    chosen: new Map(),
    turn: 0,
    updating: false,
  };
  const body = h("div", { class: "table-body" });
  const spacer = h("div", { class: "table-spacer" }, body);
  const scroller = h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Rows" }, spacer);
  const said = h("p", { class: "quiet", role: "status" });
  const bulk = h("div", { class: "table-bulk" });
  const head = h("div", { class: "table-head table-row" });

  const fetchRows = async (start) => {
    if (view.asked.has(start)) return;
    view.asked.add(start);
    const mine = view.turn;
    const query = new URLSearchParams({
      filter: view.filter,
      q: view.q,
      sort: view.sort,
      descending: String(view.descending),
      offset: String(start),
      limit: String(WINDOW),
      annotator: state.me,
    });
    if (view.label) query.set("label", view.label);
    try {
      const page = await get(`/table?${query}`);
      if (mine !== view.turn) return;
      view.total = page.total;
      view.updating = page.updating;
      for (const [index, row] of page.rows.entries()) view.rows.set(start + index, row);
      draw();
    } catch (error) {
      view.asked.delete(start);
      show(said, `The table could not be fetched: ${error.message}.`);
    }
  };
  const draw = () => {
    spacer.style.setProperty("height", `${view.total * ROW}px`);
    show(
      said,
      count(view.total, "row"),
      view.updating &&
        h(
          "span",
          { class: "updating" },
          h("span", { class: "spinner", "aria-hidden": "true" }),
          "predictions are being updated",
        ),
    );
    const first = Math.max(0, Math.floor(scroller.scrollTop / ROW) - 10);
    const last = Math.min(view.total, first + Math.ceil(scroller.clientHeight / ROW) + 20);
    for (let start = Math.floor(first / WINDOW) * WINDOW; start < last; start += WINDOW) fetchRows(start);
    const shown = [];
    for (let index = first; index < last; index++) {
      const row = view.rows.get(index);
      if (row) shown.push(line(row, index));
    }
    show(body, shown);
    drawBulk();
  };
  const line = (row, index) => {
    const box = h("input", { type: "checkbox", "aria-label": `Choose ${called(row, 40)}` });
    box.checked = view.chosen.has(row.node);
    box.addEventListener("change", () => {
      if (box.checked) view.chosen.set(row.node, row);
      else view.chosen.delete(row.node);
      drawBulk();
    });
    const element = h(
      "div",
      { class: `table-row${row.label === null ? " unlabelled" : ""}`, data: { node: row.node } },
      box,
      h(
        "button",
        {
          type: "button",
          class: "link name",
          dir: "auto",
          on: {
            click: () => {
              panel.close();
              look(row.node);
            },
          },
        },
        called(row, 120),
      ),
      h(
        "span",
        { class: "name" },
        row.label !== null && [
          classMark(row.label),
          " ",
          row.label,
          row.bulk && h("span", { class: "quiet" }, " (bulk)"),
        ],
      ),
      h("span", { class: "name" }, row.predicted !== null && [classMark(row.predicted, true), " ", row.predicted]),
      h("span", { class: "figure" }, row.sure === null ? "" : percent(row.sure)),
      h("span", { class: "quiet name" }, row.time === null ? "" : `${ago(row.time)} · ${short(row.by ?? "", 16)}`),
    );
    element.style.setProperty("top", `${index * ROW}px`);
    return element;
  };
  const drawBulk = () => {
    const chosen = [...view.chosen.values()];
    const predicted = chosen.filter((row) => row.label === null && row.predicted !== null);
    const choose = h(
      "select",
      { "aria-label": "Class for the chosen rows" },
      classes().map((name) => h("option", { value: name }, name)),
    );
    show(
      bulk,
      h("span", {}, `${count(chosen.length, "row")} chosen`),
      h("button", { type: "button", class: "small", on: { click: chooseAll } }, "Choose all in sight"),
      chosen.length > 0 && [
        h(
          "button",
          {
            type: "button",
            class: "small",
            on: {
              click: () => {
                view.chosen.clear();
                draw();
              },
            },
          },
          "Choose none",
        ),
        choose,
        h(
          "button",
          {
            type: "button",
            class: "small primary",
            on: {
              click: () =>
                send(
                  chosen.map((row) => ({ node: row.node, label: choose.value })),
                  `${count(chosen.length, "row")} labelled ${choose.value}`,
                ),
            },
          },
          "Label them",
        ),
        predicted.length > 0 &&
          h(
            "button",
            {
              type: "button",
              class: "small",
              on: {
                click: () =>
                  send(
                    predicted.map((row) => ({ node: row.node, label: row.predicted })),
                    `${count(predicted.length, "prediction")} confirmed`,
                  ),
              },
            },
            `Confirm ${count(predicted.length, "prediction")}`,
          ),
      ],
    );
  };
  const chooseAll = () => {
    for (const element of body.children) {
      const row = [...view.rows.values()].find(
        (each) => each.node === Number(/** @type {HTMLElement} */ (element).dataset.node),
      );
      const top = element.getBoundingClientRect();
      const frame = scroller.getBoundingClientRect();
      if (row && top.bottom > frame.top && top.top < frame.bottom) view.chosen.set(row.node, row);
    }
    draw();
  };
  const send = async (labels, words) => {
    if (await tellBulk(labels, words)) {
      view.chosen.clear();
      again();
    }
  };
  const again = () => {
    view.turn++;
    view.rows.clear();
    view.asked.clear();
    scroller.scrollTop = 0;
    drawHead();
    fetchRows(0);
  };
  /** The labels or the predictions have changed: the rows in sight are fetched again, where they are. */
  const renewed = settle(
    () => {
      if (!panel.isConnected) return;
      view.turn++;
      view.asked.clear();
      draw();
    },
    60,
    300,
  );
  const drawHead = () =>
    show(
      head,
      h("span"),
      COLUMNS.map(([name, title]) =>
        h(
          "button",
          {
            type: "button",
            class: "table-sort",
            "aria-pressed": String(view.sort === name),
            on: {
              click: () => {
                view.descending = view.sort === name ? !view.descending : name === "sure" || name === "time";
                view.sort = name;
                again();
              },
            },
          },
          title,
          view.sort === name ? (view.descending ? " ↓" : " ↑") : "",
        ),
      ),
    );
  const select = (label, options, change) => {
    const field = h(
      "select",
      { "aria-label": label },
      options.map(([value, text]) => h("option", { value }, text)),
    );
    field.addEventListener("change", () => {
      change(field.value);
      again();
    });
    return field;
  };
  const search = h("input", {
    type: "search",
    placeholder: "Search names and texts",
    "aria-label": "Search in the table",
    maxlength: "200",
  });
  search.addEventListener(
    "input",
    settle(
      () => {
        view.q = search.value.trim();
        again();
      },
      250,
      600,
    ),
  );
  scroller.addEventListener("scroll", () => requestAnimationFrame(draw));
  const panel = dialog(
    "All nodes",
    () =>
      h(
        "div",
        { class: "node-table" },
        h(
          "div",
          { class: "table-tools" },
          select("Which rows", FILTERS, (value) => {
            view.filter = value;
            if (value === "confident") {
              view.sort = "sure";
              view.descending = true;
            }
          }),
          select("Which class", [["", "every class"], ...classes().map((name) => [name, name])], (value) => {
            view.label = value;
          }),
          search,
          said,
        ),
        bulk,
        head,
        scroller,
      ),
    "huge",
  );
  on("status", renewed);
  panel.addEventListener("close", () => off("status", renewed));
  again();
}
