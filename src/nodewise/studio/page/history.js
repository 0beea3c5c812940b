// What was done, the newest first; any one of it can be taken back, an undo too.

import { get } from "./api.js";
import { ago, called, count, h, renew, settle, short, show } from "./dom.js";
import { wordsOf } from "./labels.js";
import { classMark } from "./marks.js";

const PAGE = 60;
// what others than the owner may take back
const THEIRS = {
  annotator: ["tell", "bulk", "skip", "note", "undo"],
  reviewer: ["settle", "note", "undo"],
  onlooker: [],
};
// what nobody can take back
const LASTING = ["release", "erase", "erased"];
let visible = false;
let events = [];
let more = false;
let drawn = null;
const parts = {};
/** @type {{status: any, me: string, role: string, isOwner: boolean}} what it is drawn from */
let seen;
/** @type {{look: (node: number) => void, undo: (event: number) => void}} what is asked for in it */
let acts;

/** The history, for a tab. */
export function historyView(/** @type {typeof seen} */ given, /** @type {typeof acts} */ heard) {
  [seen, acts] = [given, heard];
  parts.list = h("ol", { class: "events", "aria-label": "What was done, the newest first" });
  parts.more = h(
    "button",
    { type: "button", class: "small", hidden: true, on: { click: () => load(events.at(-1)?.event) } },
    "Show older ones",
  );
  return {
    view: h("div", { class: "view history" }, parts.list, parts.more),
    draw: settle(() => load(), 200, 800),
    shown: (now) => {
      visible = now;
      if (now) load();
    },
  };
}

async function load(before = null) {
  if (!visible || (before === null && drawn === seen.status?.last && events.length > 0)) return;
  const last = seen.status?.last ?? null;
  try {
    const page = (
      await get(
        `/events?annotator=${encodeURIComponent(seen.me)}&limit=${PAGE}${before === null ? "" : `&before=${before}`}`,
      )
    ).events;
    events = before === null ? page : [...events, ...page];
    more = page.length === PAGE;
    drawn = last;
    draw();
  } catch (error) {
    if (events.length === 0)
      show(parts.list, h("li", { class: "quiet" }, `The history could not be fetched: ${error.message}.`));
  }
}

function draw() {
  const done = events.filter((event) => event.kind !== "ask");
  renew(parts.list, [done, seen.status?.classes], () => [
    done.map(row),
    done.length === 0 && h("li", { class: "quiet" }, "Nothing yet. What you do appears here, and can be taken back."),
  ]);
  parts.more.hidden = !more;
}

function row(event) {
  const node =
    event.node !== null &&
    event.node !== undefined &&
    h(
      "button",
      { type: "button", class: "link", title: "Look at this row", on: { click: () => acts.look(event.node) } },
      called(event, 60),
    );
  const many = (one, others = `${one}s`) => (event.nodes ? count(event.nodes, one, others) : `some ${others}`);
  const said = {
    tell: () =>
      event.label === null
        ? [node, " was labelled"]
        : [node, " is ", classMark(event.label), h("b", {}, short(wordsOf(event.label), 60))],
    skip: () => (node ? ["skipped ", node] : [`skipped ${many("row")}`]),
    undo: () => [
      "undone: ",
      event.into
        ? ["merging of ", h("b", {}, short(event.label ?? "", 40)), " into ", h("b", {}, short(event.into, 40))]
        : event.label
          ? h("b", {}, short(wordsOf(event.label), 40))
          : event.nodes
            ? `what was done to ${many("row")}`
            : "a change",
      node ? [" at ", node] : "",
    ],
    class: () => ["new class ", h("b", {}, short(event.label ?? "", 60))],
    bulk: () => [
      event.label === null ? many("row was labelled", "rows were labelled") : many("row is ", "rows are "),
      h("b", {}, short(wordsOf(event.label) ?? "", 60)),
      " (in bulk)",
    ],
    rows: () => [many("row was added", "rows were added")],
    change: () => [many("row was changed", "rows were changed")],
    remove: () => [many("row was taken out", "rows were taken out")],
    erase: () => [many("row was erased", "rows were erased")],
    erased: () => ["something was erased here"],
    join: () => [many("label of another job was taken over", "labels of another job were taken over")],
    rename: () => ["a class is called ", h("b", {}, short(event.label ?? "", 60)), " now"],
    merge: () => [
      "class ",
      h("b", {}, short(event.label ?? "", 40)),
      " was merged into ",
      h("b", {}, short(event.into ?? "", 40)),
    ],
    describe: () => [
      "guideline ",
      event.label ? ["of ", h("b", {}, short(event.label, 40))] : "of the job",
      " written",
    ],
    order: () => ["classes put in order"],
    note: () => ["note on ", node || many("row"), ": ", short(event.text ?? "", 60)],
    release: () => ["open questions were freed"],
    budget: () => ["budget set", event.budget ? ` to ${event.budget}` : ""],
    redundancy: () => [`labels for each row: ${event.redundancy}`],
    known: () => [`known answers of ${count(event.nodes ?? 0, "row")}`],
    suggest: () => ["suggestions of ", h("b", {}, short(event.label ?? "", 40))],
    settle: () => [node, " is settled as ", classMark(event.label), h("b", {}, short(wordsOf(event.label) ?? "", 60))],
  }[event.kind]?.() ?? [event.kind];
  return h(
    "li",
    { class: event.undone ? "undone" : null },
    h("span", { class: "what" }, said),
    h(
      "span",
      { class: "quiet who" },
      `${short(event.annotator, 20)} · ${when(event.time)}${event.undone ? " · undone" : ""}`,
    ),
    !event.undone &&
      !LASTING.includes(event.kind) &&
      (seen.isOwner || (THEIRS[seen.role].includes(event.kind) && event.annotator === seen.me)) &&
      h(
        "button",
        {
          type: "button",
          class: "small",
          "aria-label": `Undo event ${event.event}`,
          on: { click: () => acts.undo(event.event) },
        },
        event.kind === "undo" ? "Redo" : "Undo",
      ),
  );
}

/** A time of the API: seconds since 1970, or as ISO 8601 writes it. */
const when = (time) => ago(typeof time === "number" ? time : Date.parse(time) / 1000);
