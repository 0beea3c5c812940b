// The review desk: all rows as a table beside the one that is read. Filters and the row stand in the page's address;
// rows stay where they are while one reads, until the filter is applied again. Only the rows in sight are drawn.

import { openAction, possible } from "./acting.js";
import { goTo } from "./address.js";
import { get } from "./api.js";
import { dialog } from "./dialogs.js";
import { count, h, keepFocus, renew, settle, show } from "./dom.js";
import { filterFields, fromPlace, toPlace, toQuery, toWhere } from "./filters.js";
import { classOf, commandOf, hasItsOwnUse } from "./hotkeys.js";
import { nameOf, several } from "./labels.js";
import { chosenColumns, drawLines, lineOf, ownColumns, ROW, tick } from "./lines.js";
import { readingPane } from "./reading.js";
import { openSimilar } from "./similar.js";

const WINDOW = 100; // rows fetched at a time
const COLUMNS = [
  ["name", "Row"],
  ["label", "Label"],
  ["predicted", "Prediction"],
  ["sure", "Sure"],
  ["time", "When, who"],
];

/**
 * @typedef {{status: any, me: string, role: string, trail: {node: number}[], blind: boolean, isOwner: boolean,
 *   isLabeller: boolean, isJudge: boolean}} Seen what the desk is drawn from
 * @typedef {{undo: () => void, look: (node: number) => void, label: (row: any, label: string) => void,
 *   fetchCard: (node: number) => Promise<any>, addNote: (node: number, text: string) => Promise<void>,
 *   change: (path: string, values: object, words: string, node?: number) => Promise<boolean>,
 *   acted: (answer: any, words: string) => void}} Acts what is asked for in it
 */

let open = null; // the desk that is there, to be led to another place

/** Open the desk over the page, at a filter. */
export function openTable(place, /** @type {Seen} */ seen, /** @type {Acts} */ acts) {
  if (document.querySelector("dialog[open]") || !seen.status) return;
  goTo(toPlace(fromPlace(place)));
  makeDesk(place, seen, acts);
}

/** Show the desk at the place that the address names: in the one that is open, or in a new one. */
export function showTable(place, /** @type {Seen} */ seen, /** @type {Acts} */ acts) {
  if (open !== null) open.goes(place);
  else makeDesk(place, seen, acts);
}

/** Labels, predictions or who looks have changed: the desk shows it, if it is open. */
export const drawTable = () => open?.renewed();

/** Take the desk away without a word in the address: that is elsewhere already. */
export function leaveTable() {
  if (open !== null) open.leave();
}

function makeDesk(/** @type {Record<string, string>} */ place, /** @type {Seen} */ seen, /** @type {Acts} */ acts) {
  const view = {
    asked: fromPlace(place),
    listing: null,
    total: 0,
    rows: new Map(),
    fetched: new Set(),
    chosen: new Map(),
    all: false,
    current: rowOf(place, seen.status),
    columns: [],
    shown: null,
    captions: [],
    models: [],
    turn: 0,
    updating: false,
  };
  const body = h("div", { class: "table-body" });
  const spacer = h("div", { class: "table-spacer" }, body);
  const scroller = h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Rows" }, spacer);
  const said = h("p", { class: "quiet", role: "status" });
  const stale = h("p", { class: "notice table-stale", hidden: true });
  const bulk = h("div", { class: "table-bulk" });
  const head = h("div", { class: "table-head table-row" });
  const owns = ownColumns(view, () => {
    view.turn++;
    view.fetched.clear();
    drawHead();
    draw();
  });
  const lineActs = { choose: (index) => choose(index, true), chosen: () => drawBulk() };

  const fetchRows = async (start) => {
    if (view.fetched.has(start)) return;
    view.fetched.add(start);
    const mine = view.turn;
    const query = toQuery(view.asked, view.listing);
    query.set("offset", String(start));
    query.set("limit", String(WINDOW));
    query.set("annotator", seen.me);
    for (const name of view.shown ?? []) query.append("columns", name);
    try {
      const page = await get(`/table?${query}`);
      if (mine !== view.turn) return;
      const lost = view.listing !== null && view.listing !== page.listing; // the studio was started anew, say
      if (lost) view.rows.clear();
      Object.assign(view, { listing: page.listing, total: page.total, updating: page.updating });
      Object.assign(view, { columns: page.columns, captions: page.captions, models: page.models });
      for (const [index, row] of page.rows.entries()) view.rows.set(start + index, row);
      if (view.shown === null) {
        view.shown = chosenColumns(view);
        if (view.shown.length) {
          view.fetched.clear();
          drawHead();
          fetchRows(start);
          return;
        }
      }
      if (lost) view.fetched.clear();
      const top = view.rows.get(0);
      if (view.current === null && top) {
        view.current = top.node;
        pane.read(top.node);
      }
      fields.draw();
      drawHead();
      draw();
    } catch (error) {
      view.fetched.delete(start);
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
    // the first ones also where none is known: what changed meanwhile may have made their answer void
    for (let start = Math.floor(first / WINDOW) * WINDOW; start < Math.max(last, 1); start += WINDOW) fetchRows(start);
    const shown = [];
    for (let index = first; index < last; index++) {
      const row = view.rows.get(index);
      if (row) shown.push([row, index]);
    }
    const held = keepFocus(body);
    drawLines(
      body,
      shown.map(([row, index]) => lineOf(row, index, view, lineActs)),
    );
    tick(body, view);
    held?.();
    const left = [...view.rows.values()].filter((row) => !row.fits).length;
    stale.hidden = left === 0;
    renew(stale, [left], () => [
      left === 1
        ? "1 row here no longer fits the filter, and is crossed out."
        : `${count(left, "row")} here no longer fit the filter, and are crossed out.`,
      h("button", { type: "button", class: "small", on: { click: again } }, "Filter again"),
    ]);
    drawBulk();
  };
  /** Read the row at an index of the list. */
  const choose = (index, focus) => {
    const row = view.rows.get(index);
    if (!row) return;
    view.current = row.node;
    goTo(toPlace(view.asked, row.node), true);
    const top = index * ROW;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + ROW > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = top + ROW - scroller.clientHeight;
    draw();
    desk.classList.add("reading");
    pane.read(row.node);
    if (focus)
      /** @type {HTMLElement | null} */ (body.querySelector(`[data-node="${row.node}"] button`))?.focus({
        preventScroll: true,
      });
  };
  const drawBulk = () => {
    const held = keepFocus(bulk);
    const chosen = [...view.chosen.keys()];
    const rows = view.all ? { where: toWhere(view.asked, view.listing) } : { nodes: chosen };
    const some = view.all ? view.total > 0 : chosen.length > 0;
    const words = {
      label: "Label them",
      confirm: "Confirm predictions",
      skip: "Skip",
      note: "Note",
      assign: "Give to …",
      remove: "Take out",
    };
    const button = (text, action, primary = false) =>
      h("button", { type: "button", class: `small${primary ? " primary" : ""}`, on: { click: action } }, text);
    renew(bulk, [rows, view.total, possible(seen)], () => [
      h("span", {}, view.all ? `all ${count(view.total, "row")} found` : `${count(chosen.length, "row")} chosen`),
      !view.all && button("Choose all in sight", chooseAll),
      !view.all &&
        view.total > 0 &&
        button(`Choose all ${view.total.toLocaleString("en")} found`, () => {
          view.all = true;
          draw();
        }),
      some && [
        button("Choose none", () => {
          view.chosen.clear();
          view.all = false;
          draw();
        }),
        possible(seen).map((action) =>
          button(words[action], () => openAction({ action, rows }, seen, acts, acted), action === "label"),
        ),
      ],
    ]);
    held?.();
  };
  const chooseAll = () => {
    const frame = scroller.getBoundingClientRect();
    const byNode = new Map([...view.rows.values()].map((row) => [row.node, row]));
    for (const element of body.children) {
      const row = byNode.get(Number(/** @type {HTMLElement} */ (element).dataset.node));
      const top = element.getBoundingClientRect();
      if (row && top.bottom > frame.top && top.top < frame.bottom) view.chosen.set(row.node, row);
    }
    draw();
  };
  const acted = () => {
    view.chosen.clear();
    view.all = false;
    renewed();
  };
  /** Ask anew: another question, or the same one again. */
  const again = () => {
    view.turn++;
    view.listing = null;
    view.rows.clear();
    view.fetched.clear();
    view.all = false;
    scroller.scrollTop = 0;
    drawHead();
    fetchRows(0);
  };
  const changed = () => {
    view.current = null;
    desk.classList.remove("reading");
    goTo(toPlace(view.asked, view.current));
    fields.draw();
    again();
  };
  /** The labels or the predictions have changed: the rows in sight are fetched again, where they are. */
  const renewed = settle(
    () => {
      if (!panel.isConnected) return;
      view.turn++;
      view.fetched.clear();
      draw();
      pane.again();
      drawBlind();
    },
    60,
    300,
  );
  const drawHead = () => {
    const held = keepFocus(head);
    const sorts = [...COLUMNS, ...(view.shown ?? []).map((name) => [`column ${name}`, name])];
    const now = view.asked.sort === "column" ? `column ${view.asked.column}` : view.asked.sort;
    desk.style.setProperty("--own", String((view.shown ?? []).length));
    desk.classList.toggle("with-own", (view.shown ?? []).length > 0);
    renew(head, [sorts, now, view.asked.descending], () => [
      h("span"),
      sorts.map(([name, title]) =>
        h(
          "button",
          {
            type: "button",
            class: `table-sort${name.startsWith("column ") ? " own" : ""}`,
            "aria-pressed": String(now === name),
            dir: "auto",
            title,
            on: {
              click: () => {
                view.asked.descending = now === name ? !view.asked.descending : name === "sure" || name === "time";
                const own = name.startsWith("column ");
                view.asked.sort = own ? "column" : name;
                view.asked.column = own ? title : "";
                changed();
              },
            },
          },
          title,
          now === name ? (view.asked.descending ? " ↓" : " ↑") : "",
        ),
      ),
    ]);
    held?.();
    owns.draw();
  };
  const hidden = h("p", { class: "notice", hidden: true });
  const drawBlind = () => {
    hidden.hidden = !seen.blind;
    show(
      hidden,
      "Predictions are hidden here until you have answered the row that you are asked about:",
      " it is to be judged without them.",
    );
  };
  const pane = readingPane(seen, {
    ...acts,
    openSimilar: (card) => openSimilar(card, seen, acts),
    look: (node) => {
      leave();
      acts.look(node);
    },
    back: () => {
      desk.classList.remove("reading");
      scroller.focus();
    },
  });
  const fields = filterFields(view, () => Object.keys(seen.status?.annotators ?? {}), changed);
  const tools = h("div", { class: "table-tools" }, fields.element, owns.element, said);
  const desk = h(
    "div",
    { class: "node-table" },
    h("div", { class: "table-main" }, tools, hidden, stale, bulk, h("div", { class: "table-frame" }, head, scroller)),
    pane.element,
  );
  scroller.addEventListener("scroll", () => requestAnimationFrame(draw));
  const panel = dialog("All rows", () => desk, "huge");
  panel.classList.add("review");

  const step = (by) => {
    const now = [...view.rows.entries()].find(([, row]) => row.node === view.current)?.[0];
    choose(Math.max(0, Math.min(view.total - 1, now === undefined ? 0 : now + by)), true);
  };
  panel.addEventListener("keydown", (event) => {
    const at = /** @type {HTMLElement} */ (event.target);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) && !at.matches("input[type=checkbox]")) return;
    if (hasItsOwnUse(event)) return;
    const inList = scroller.contains(at);
    const command = commandOf(event, (each) => nameOf(each) !== null);
    const number = classOf(command);
    if (event.key === "ArrowDown" && inList) step(1);
    else if (event.key === "ArrowUp" && inList) step(-1);
    else if (command === "undo" && !event.repeat) acts.undo();
    else if (number !== null && !event.repeat && seen.isLabeller && view.current !== null && !several()) {
      // of several classes one key would replace all: they are chosen beside the row
      const label = nameOf(number);
      const row = [...view.rows.values()].find((each) => each.node === view.current);
      if (label !== null && row) acts.label(row, label);
    } else return;
    event.preventDefault();
  });

  const leave = () => {
    panel.dataset.quiet = "yes";
    panel.close();
  };
  panel.addEventListener("close", () => {
    open = null;
    if (panel.dataset.quiet !== "yes") goTo(seen.trail.length ? { row: String(seen.trail.at(-1).node + 1) } : {});
  });
  open = {
    leave,
    renewed,
    goes: (there) => {
      const before = JSON.stringify(view.asked);
      view.asked = fromPlace(there);
      view.current = rowOf(there, seen.status);
      pane.read(view.current);
      fields.draw();
      if (JSON.stringify(view.asked) !== before) again();
      else draw();
    },
  };
  fields.draw();
  drawBlind();
  again();
  if (view.current !== null) {
    desk.classList.add("reading");
    pane.read(view.current);
  }
}

/** The row that an address names, or null. */
function rowOf(place, { nodes }) {
  const node = Number(place.row) - 1;
  return Number.isInteger(node) && node >= 0 && node < nodes ? node : null;
}
