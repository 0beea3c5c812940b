// What the page knows, in one place; views subscribe to the parts that they draw.

import { kept } from "./dom.js";

const listeners = new Map();

/**
 * - studio: the answer of /studio; status: that of /status.
 * - query: the node that is asked, or null; nothing: why there is none to ask, in words.
 * - trail: the nodes looked at since, the last one is shown; empty while the asked node is shown.
 * - card: the node that is shown.
 * - phase: loading, ready, saving, asking (the next node is coming), settling (it has just come), idle (nothing to ask).
 * - sending: the change on its way; saved: the last one acknowledged; failed: those that did not get through, to be tried again; error: what was refused.
 * - gone: the votes on the asked node where somebody else has labelled it meanwhile; hint: a soft word on a press that was ignored.
 */
export const state = {
  studio: null, status: null, query: null, nothing: "", trail: [], card: null, phase: "loading", sending: null, saved: null, failed: null, error: null,
  hint: "", gone: null, online: true,
  me: kept.read("annotator", "me"),
};

export function on(names, action) {
  for (const name of names.split(" ")) {
    if (!listeners.has(name)) listeners.set(name, []);
    listeners.get(name).push(action);
  }
}

/** Change parts of the state and tell those who draw them, each once. */
export function set(changes) {
  Object.assign(state, changes);
  tell(...Object.keys(changes));
}

export function tell(...names) {
  for (const action of new Set(names.flatMap((name) => listeners.get(name) ?? []))) action(state);
}

/** Whether the node that is shown is the asked one. */
export const atHome = () => state.trail.length === 0;

/** The node that a class button would label now, or null. */
export const target = () => (atHome() ? state.query?.node : state.trail.at(-1).node) ?? null;

/** Whether what is predicted for a node must not be seen: it is asked without showing it. */
export const secret = (node) => state.query !== null && state.query.node === node && (state.query.audit || state.query.predicted.length === 0);

export const classes = () => state.status?.classes ?? [];
