// Find a node by its name: a combobox, the arrows choose, Enter looks at it.

import { byId, called, h, settle, show } from "./dom.js";
import { keyHint } from "./hotkeys.js";
import { classMark } from "./marks.js";

let hits = [];
let aimed = -1;
let asked = "";
let found = ""; // what the hits are of
const parts = {};
/**
 * @type {{findRows: (words: string) => Promise<{nodes: any[]}>, look: (node: number) => void}} what is asked for in it
 */
let acts;

export function startSearch(/** @type {typeof acts} */ heard) {
  acts = heard;
  parts.input = h("input", {
    type: "search",
    id: "search-field",
    placeholder: "Search",
    "aria-label": "Find rows by name or by words in their text",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": "search-list",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: "200",
  });
  parts.list = h("ul", {
    id: "search-list",
    role: "listbox",
    class: "hits",
    hidden: true,
    "aria-label": "Rows that were found",
  });
  parts.input.addEventListener("input", settle(fetchHits, 160, 400));
  parts.input.addEventListener("keydown", typed);
  parts.input.addEventListener("blur", () => setTimeout(leave, 120));
  byId("search").append(parts.input, keyHint("search"), parts.list);
  byId("search").addEventListener("submit", (event) => event.preventDefault());
}

/** The field takes what is typed next, also where it is hidden for want of room or to leave the text alone. */
export function focusSearch() {
  byId("search").classList.add("wanted");
  parts.input.focus();
  parts.input.select();
}

async function fetchHits() {
  asked = parts.input.value.trim();
  if (!asked) {
    close();
    return;
  }
  const mine = asked;
  try {
    const { nodes } = await acts.findRows(mine);
    if (mine !== asked || document.activeElement !== parts.input) return;
    [hits, found] = [nodes, mine];
    aimed = nodes.length ? 0 : -1;
    draw();
  } catch (error) {
    show(parts.list, h("li", { class: "quiet" }, `Not found: ${error.message}.`));
    parts.list.hidden = false;
  }
}

function draw() {
  show(
    parts.list,
    hits.map((node, index) => {
      const hit = h(
        "li",
        { role: "option", id: `hit-${index}`, "aria-selected": String(index === aimed) },
        node.label !== null && node.label !== undefined ? classMark(node.label) : null,
        h(
          "span",
          { class: "name", dir: "auto" },
          called(node, 160),
          node.match && h("span", { class: "match quiet" }, marked(node.match)),
        ),
      );
      hit.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        take(index);
      });
      return hit;
    }),
    hits.length === 0 && h("li", { class: "quiet" }, "No name or text holds that."),
  );
  parts.list.hidden = false;
  parts.input.setAttribute("aria-expanded", "true");
  if (aimed >= 0) parts.input.setAttribute("aria-activedescendant", `hit-${aimed}`);
  else parts.input.removeAttribute("aria-activedescendant");
}

/** A match with what was looked for in bold. */
function marked(text) {
  const at = text.toLowerCase().indexOf(asked.toLowerCase());
  return at < 0
    ? text
    : [text.slice(0, at), h("mark", {}, text.slice(at, at + asked.length)), text.slice(at + asked.length)];
}

function close() {
  parts.list.hidden = true;
  parts.input.setAttribute("aria-expanded", "false");
  parts.input.removeAttribute("aria-activedescendant");
}

function leave() {
  if (document.activeElement === parts.input) return;
  close();
  byId("search").classList.remove("wanted");
}

function take(index) {
  const node = hits[index];
  if (!node) return;
  parts.input.value = "";
  asked = "";
  close();
  parts.input.blur();
  acts.look(node.node);
}

/** Take the hit that is aimed at; never one of words that have been typed over since. */
async function takeAimed() {
  const wanted = parts.input.value.trim();
  if (wanted !== found || parts.list.hidden) await fetchHits();
  if (wanted === found && !parts.list.hidden) take(aimed);
}

function typed(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by && hits.length) {
    aimed = (aimed + by + hits.length) % hits.length;
    draw();
  } else if (event.key === "Enter") {
    takeAimed();
  } else if (event.key === "Escape") {
    parts.input.value = "";
    close();
    parts.input.blur();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}
