// The flow of the work: ask, tell, skip, undo, look around. Nothing counts as saved before the server has said so.

import { goTo } from "./address.js";
import { ApiError, get, post } from "./api.js";
import { announce, byId, called, count, kept, settle, short } from "./dom.js";
import { hiddenWords } from "./hotkeys.js";
import { answerOf, labelOf, wordsOf } from "./labels.js";
import { on, set, state, tell, unsaved } from "./store.js";

const SETTLE = 500; // a second press of the same key must not label the node that has just come
let timer = null;
let turn = 0; // counts views, so that an answer for one that was left is thrown away

/** Learn who works here, as far as their link tells. */
export async function meet() {
  const { role, person } = await get("/studio");
  set({ role, person, ...(person === null ? {} : { me: person }) });
}

/** Show the session that the page's address names; `looking`: nobody is given a row. */
export async function start(looking) {
  set({ looking: looking || !state.isLabeller });
  set({ status: await fetchStatus() });
  unsaved.restore();
  await ask();
}

/** The status as this annotator may see it. */
const fetchStatus = () => get(`/status?annotator=${encodeURIComponent(state.me)}`);

/** Fetch the node to label: the one that is open for this annotator, or the next. */
export async function ask() {
  const mine = ++turn;
  if (state.looking) {
    set({ query: null, nothing: "no row is given to you", gone: null, ...(state.atHome ? { card: null } : {}) });
    rest();
    return;
  }
  set({ phase: "asking", error: null });
  try {
    const { queries } = await post("/ask", { annotator: state.me, k: 1 });
    if (mine !== turn) return;
    const query = queries[0];
    const moved = state.query?.event !== query.event;
    set({ query, nothing: "", gone: null, ...(state.atHome ? { card: query.card } : {}) });
    if (state.atHome && moved) announce(`${savedWords()}Next row: ${short(query.card.heading, 120)}`);
    if (state.atHome && moved) intoSight();
    rest();
    refresh();
  } catch (error) {
    if (mine !== turn) return;
    if (error.status === 409) {
      set({ query: null, nothing: error.message, gone: null, ...(state.atHome ? { card: null } : {}) });
      rest();
      refresh();
    } else
      set({ phase: "stuck", error: { words: `The next row could not be fetched: ${error.message}.`, again: ask } });
  }
}

/** From looking to labelling: have a row given. */
export function beginLabelling() {
  set({ looking: false });
  return ask();
}

/** On a phone the page scrolls as a whole: the next question begins at its beginning. */
function intoSight() {
  const sheet = byId("desk");
  if (sheet.getBoundingClientRect().top < 0) sheet.scrollIntoView({ block: "start" });
}

/** A node as this annotator may see it. */
export const fetchCard = (node) => get(`/nodes/${node}?annotator=${encodeURIComponent(state.me)}`);

/** Show the node that is there now, and take no label for a moment. */
function rest() {
  clearTimeout(timer);
  set({ phase: "settling", hint: "" });
  timer = setTimeout(() => set({ phase: state.query || state.trail.length ? "ready" : "idle", hint: "" }), SETTLE);
}

/** Whether a label may be given now; otherwise says softly why not. */
export function free() {
  if (state.phase === "ready") return true;
  const why = {
    saving: "one moment, the last one is being saved",
    asking: "one moment, the next row is coming",
    settling: "that press was ignored: this row has just appeared",
    idle: "there is no row to label now",
  };
  set({ hint: why[state.phase] ?? "one moment" });
  return false;
}

export function choose(label, newClass = false) {
  const node = state.target;
  if (node === null || !free()) return Promise.resolve(false);
  const words = `“${short(state.card.heading, 60)}” is ${short(wordsOf(label), 60)}`;
  return send({
    path: "/tell",
    body: { annotator: state.me, labels: [{ node, label: answerOf(label) }], new_class: newClass },
    words,
    node,
    home: state.atHome,
  });
}

/** Give the node the class, or classes, that are predicted for it; never where the prediction is hidden. */
export function accept() {
  const offered = state.acceptable;
  if (offered !== null && byId("insight").getClientRects().length === 0) {
    set({ hint: hiddenWords("the prediction") });
    return;
  }
  if (offered !== null) choose(offered);
  else if (state.card?.updating) set({ hint: "one moment, the prediction is being updated" });
}

export function skip() {
  if (state.query === null || !state.atHome || !free()) return;
  const words = `skipped “${short(state.card.heading, 60)}”`;
  send({
    path: "/skip",
    body: { annotator: state.me, node: state.query.node },
    words,
    node: state.query.node,
    home: true,
  });
}

/** Take back the last change of this annotator, or the event of that number. */
export function undo(event = null) {
  if (!["ready", "idle", "settling"].includes(state.phase)) {
    free();
    return;
  }
  send({ path: "/undo", body: { annotator: state.me, event }, words: "undone", node: null, home: state.atHome });
}

export const addClass = (name, newClass = false) =>
  change("/classes", { name, new_class: newClass }, `new class ${short(name, 60)}`);

/** Label many nodes as one change: it trains, spends no budget, and is undone as one. */
export function tellBulk(labels, words) {
  const sent = labels.map(({ node, label }) => ({ node, label: answerOf(label) }));
  return labels.length && state.isLabeller ? change("/bulk", { labels: sent }, words) : Promise.resolve(false);
}

/** Write something to a node; the card shows it once it is saved. */
export async function addNote(node, text) {
  if (!(await change("/notes", { node, text }, "your note"))) return;
  const fresh = await fetchCard(node);
  if (state.card?.node === node)
    set(state.atHome && state.query ? { query: { ...state.query, card: fresh }, card: fresh } : { card: fresh });
}

export const setBudget = (budget) =>
  send({
    path: "/budget",
    body: { annotator: state.me, budget },
    words: `the budget is ${budget} now`,
    node: null,
    home: true,
  });

/** Send a change that is no answer to the question; `node`: the one that it is about, where it is about one. */
export const change = (path, values, words, node = null) =>
  send({ path, body: { annotator: state.me, ...values }, words, node, home: false });

/** Give a row a class though it is not the one that is shown. */
export const label = (row, said) =>
  change(
    "/tell",
    { labels: [{ node: row.node, label: answerOf(said) }] },
    `“${called(row, 60)}” is ${short(wordsOf(said), 60)}`,
    row.node,
  );

/** What was done with many rows is saved, as the studio says. */
export function acted(answer, words) {
  const { event } = answer.done;
  set({ status: answer.status, saved: { words, event, undo: event !== null, label: null } });
  announce(`Saved: ${words}`);
  refresh();
}

/** Say softly why a press was ignored. */
export const hint = (words) => set({ hint: words });

/** Say what could not be done. */
export const fail = (words) => set({ error: { words } });

/** Send a change; true once the server has it on its disk. One that did not get through is kept for another try. */
export async function send(request) {
  const before = state.phase;
  set({ phase: "saving", sending: request, error: null, hint: "" });
  try {
    const answer = await post(request.path, request.body);
    unsaved.drop(request);
    const event = answer.event ?? answer.events?.[0] ?? null;
    const words = answer.undone ? undoneWords(answer.undone) : request.words;
    set({
      status: answer.status,
      sending: null,
      saved: { words, event, undo: !answer.undone, label: labelIn(request) },
    });
    announce(`${answer.undone ? "Undone" : "Saved"}: ${words}`);
    if (request.home || (request.node !== null && request.node === state.query?.node)) await ask();
    else if (state.atHome) rest();
    else await reload();
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    set({ phase: before === "idle" ? "idle" : "ready", sending: null });
    if (error.labelledBy) {
      set({
        error: {
          words:
            `${short(error.labelledBy, 40)} has labelled it ${short(wordsOf(error.suggestion), 60)}. ` +
            "Nothing was changed.",
          overrule: request,
        },
      });
      return false;
    }
    const lasting = error.status >= 400 && error.status < 500; // the same again would be refused again
    // it may have been done: the same again would take back one more
    const again = request.path === "/undo" && request.body.event === null;
    if (lasting || again)
      set({ error: { words: `Not saved: ${error.message}`, suggestion: error.suggestion, request } });
    else unsaved.keep(request, error.message);
    return false;
  }
}

/** What a change says of its first node, as a text; null where it says nothing. */
function labelIn(request) {
  const label = request.body.labels?.[0].label ?? null;
  return Array.isArray(label) ? labelOf(label) : label;
}

/** What was saved last, before what comes next. */
function savedWords() {
  return state.saved ? `${state.saved.undo ? "Saved" : "Undone"}: ${state.saved.words}. ` : "";
}

function undoneWords(undone) {
  const rows = count(undone.nodes ?? 0, "row");
  const what = {
    tell: undone.label === null ? "label" : `label ${wordsOf(undone.label)}`,
    skip: undone.nodes ? `skipping of ${rows}` : "skip",
    class: `class ${undone.label ?? undone.name ?? ""}`,
    budget: "budget",
    redundancy: "labels for each row",
    settle: `settling as ${wordsOf(undone.label)}`,
    rename: `new name ${undone.label}`,
    merge: `merging of ${undone.label} into ${undone.into}`,
    describe: undone.label ? `guideline of ${undone.label}` : "guideline of the job",
    order: "order of the classes",
    note: undone.nodes ? `note on ${rows}` : "note",
    bulk: `${undone.label === null ? "label" : `label ${wordsOf(undone.label)}`} of ${rows}`,
    rows: `addition of ${rows}`,
    change: `change of ${rows}`,
    remove: `taking out of ${rows}`,
    join: `joining of ${count(undone.nodes ?? 0, "label")}`,
    suggest: `suggestions of ${undone.label}`,
    undo: "undo",
  }[undone.kind];
  const of = undone.node === null || undone.node === undefined ? "" : ` of “${called(undone, 50)}”`;
  return `${what ?? undone.kind}${of}`;
}

/** Try everything again that did not get through. */
export async function retry() {
  if (state.error?.again) {
    const { again } = state.error;
    set({ error: null });
    await again();
    return;
  }
  for (const request of [...unsaved.all()]) if (!(await send(request))) break;
}

/** Look at another node; the asked one stays asked. */
export async function look(node) {
  if (node === null || node === undefined) return;
  if (state.phase === "saving" || state.phase === "asking") {
    free();
    return;
  }
  if (node === state.query?.node) {
    home();
    return;
  }
  const index = state.trail.findIndex((step) => step.node === node);
  const mine = ++turn;
  set({ phase: "asking" });
  try {
    const fresh = await fetchCard(node);
    if (mine !== turn) return;
    const trail = index >= 0 ? state.trail.slice(0, index + 1) : [...state.trail, { node, name: fresh.heading }];
    set({ trail, card: fresh });
    goTo({ row: String(node + 1) });
    announce(`Looking at ${short(fresh.heading, 120)}`);
    rest();
  } catch (error) {
    if (mine === turn) set({ phase: "ready", error: { words: `The row could not be shown: ${error.message}.` } });
  }
}

export function home() {
  if (state.atHome) return;
  turn++;
  goTo({});
  set({ trail: [], card: state.query?.card ?? null });
  announce(state.query ? `Back at the row to label: ${short(state.card.heading, 120)}` : "Back");
  rest();
}

export function back() {
  if (state.trail.length <= 1) home();
  else look(state.trail.at(-2).node);
}

async function reload() {
  const mine = ++turn;
  try {
    const fresh = await fetchCard(state.trail.at(-1).node);
    if (mine === turn) {
      set({ card: fresh });
      rest();
    }
  } catch {
    if (mine === turn) rest();
  }
}

/** Work under another name; what the former one was asked and has not answered is free again. */
export async function rename(name) {
  const before = state.me;
  kept.write("annotator", name);
  // what the former name was asked is not to be answered any more
  goTo({});
  set({ me: name, trail: [], saved: null, phase: "asking" });
  if (before) {
    try {
      await post("/release", { annotator: name, released: before });
    } catch {
      /* it is free after a while by itself */
    }
  }
  await ask();
}

/**
 * Something has changed, here or elsewhere: fetch the status, and see whether the asked node is still ours to label.
 */
export const refresh = settle(
  async () => {
    try {
      const before = state.status;
      const status = await fetchStatus();
      if (state.status !== before && status.last < state.status.last) return; // what is known now is newer
      set({ status });
      await repredict();
      const { query } = state;
      const taken =
        query &&
        status.last >= query.event &&
        ["ready", "settling"].includes(state.phase) &&
        !(status.open[state.me] ?? []).includes(query.name);
      if (taken) set({ gone: (await fetchCard(query.node)).votes });
      else if (state.gone) set({ gone: null });
      if (!query && !state.looking && !status.done && state.phase === "idle") await ask();
    } catch {
      /* the banner says that the connection is lost; the next message brings it up to date */
    }
  },
  250,
  1000,
);

/**
 * The prediction of the node that is shown, where it is of other labels than those of now. The rest of the card stays
 * as it is.
 */
async function repredict() {
  const { card: shown, status } = state;
  if (!shown || (shown.predictions_version === status.predictions_version && shown.updating === status.updating))
    return;
  const { predicted, given, suggested, hidden, updating, predictions_version } = await fetchCard(shown.node);
  Object.assign(shown, { predicted, given, suggested, hidden, updating, predictions_version });
  if (state.card === shown) tell("predicted");
}

on("online", () => {
  if (state.online && state.phase === "stuck") retry();
});
