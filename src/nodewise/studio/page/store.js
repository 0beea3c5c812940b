// What the page knows, in one place; views subscribe to the parts that they draw.

import { SESSION } from "./api.js";
import { kept } from "./dom.js";

const listeners = new Map();

/**
 * - status: the answer of /status.
 * - query: the node that is asked, or null; nothing: why there is none to ask, in words.
 * - trail: the nodes looked at since, the last one is shown; empty while the asked node is shown.
 * - card: the node that is shown.
 * - phase: loading, ready, saving, asking (the next node is coming), settling (it has just come), idle (nothing to
 *   ask).
 * - sending: the change on its way; saved: the last one acknowledged; failed: those that did not get through, to be
 *   tried again; error: what was refused.
 * - role: owner; annotator: labels and looks; reviewer: settles and reads; onlooker: looks. person: the name that one's
 *   own link gives, or null. looking: nobody is to be asked on this page.
 * - gone: the votes on the asked node where somebody else has labelled it meanwhile; hint: a soft word on a press that
 *   was ignored.
 */
export const state = {
  status: null,
  query: null,
  nothing: "",
  trail: [],
  card: null,
  phase: "loading",
  sending: null,
  saved: null,
  failed: null,
  error: null,
  hint: "",
  gone: null,
  online: true,
  role: "owner",
  person: null,
  looking: false,
  me: kept.read("annotator", ""),
};

export function on(names, action) {
  for (const name of names.split(" ")) {
    if (!listeners.has(name)) listeners.set(name, []);
    listeners.get(name).push(action);
  }
}

/** No longer call an action for the parts named. */
export function off(names, action) {
  for (const name of names.split(" "))
    listeners.set(
      name,
      (listeners.get(name) ?? []).filter((other) => other !== action),
    );
}

/** Change parts of the state and tell those who draw them, each once. */
export function set(changes) {
  Object.assign(state, changes);
  tell(...Object.keys(changes));
}

export function tell(...names) {
  for (const action of new Set(names.flatMap((name) => listeners.get(name) ?? []))) action(state);
}

/** Whether whoever works here may do everything; the studio checks it as well. */
export const isOwner = () => state.role === "owner";

/** Whether whoever works here is asked, and labels. */
export const isLabeller = () => state.role === "owner" || state.role === "annotator";

/** Whether whoever works here settles disagreements. */
export const isJudge = () => state.role === "owner" || state.role === "reviewer";

/** Whether the node that is shown is the asked one. */
export const atHome = () => state.trail.length === 0;

/** The node that a class button would label now, or null. */
export const target = () => (isLabeller() ? (atHome() ? state.query?.node : state.trail.at(-1).node) : null) ?? null;

/**
 * Whether no prediction must be seen now, of any node: the asked one is to be judged without it, and those of its
 * neighbours would tell it.
 */
export const blind = () => state.query !== null && (state.query.audit || state.query.card.hidden);

/** What labels and predictions on a picture depend on: the log, the predictions, and who looks. */
export const moment = () =>
  `${state.status?.last} ${state.status?.predictions_version} ${state.status?.updating} ${state.me}`;

/** The names of the classes, by their numbers. */
export const classes = () => state.status?.classes ?? [];

/** The number of a class, which it keeps; -1 for none. */
export const numberOf = (name) =>
  state.status && Object.hasOwn(state.status.numbers, name) ? state.status.numbers[name] : -1;

export const nameOf = (number) => classes().find((name) => numberOf(name) === number) ?? null;

// Changes that did not get through. They stay until they are saved or thrown away, also when the page is loaded again.
const storageKey = () => `nodewise.unsaved.${SESSION}`;

/** What identifies a change: another label for the same node replaces the one that failed. */
const about = (request) => `${request.path} ${request.node ?? JSON.stringify(request.body)} ${request.body.annotator}`;

const unsavedChanges = () => state.failed ?? [];

function keepUnsaved(request, why) {
  writeUnsaved([...unsavedChanges().filter((other) => about(other) !== about(request)), { ...request, why }]);
}

function dropUnsaved(request) {
  if (unsavedChanges().length) writeUnsaved(unsavedChanges().filter((other) => about(other) !== about(request)));
}

function discardUnsaved() {
  writeUnsaved([]);
}

/** What an earlier load of this page could not save. */
function restoreUnsaved() {
  let requests = [];
  try {
    requests = JSON.parse(sessionStorage.getItem(storageKey()) ?? "[]");
  } catch {
    /* no storage */
  }
  if (Array.isArray(requests) && requests.length)
    set({ failed: requests.map((request) => ({ ...request, home: false })) });
}

function writeUnsaved(failed) {
  set({ failed: failed.length ? failed : null });
  try {
    sessionStorage.setItem(storageKey(), JSON.stringify(failed));
  } catch {
    /* no storage: kept as long as the page is open */
  }
}

export const unsaved = {
  all: unsavedChanges,
  keep: keepUnsaved,
  drop: dropUnsaved,
  discard: discardUnsaved,
  restore: restoreUnsaved,
};
