// What the page knows, in one place; views subscribe to the parts that they draw.

import { SESSION } from "./api.js";
import { kept } from "./dom.js";
import { classes, labelOf, learnJob, membersOf, NONE, several } from "./labels.js";

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
 * - report: how accurate it is, as told last.
 * - choices: by node the classes chosen for it and not saved yet, where a row may have several.
 *
 * The rest follows from these.
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
  report: null,
  online: true,
  role: "owner",
  person: null,
  looking: false,
  me: kept.read("annotator", ""),
  /** @type {Map<number, {names: string[], none: boolean}>} */
  choices: new Map(),

  /** Whether whoever works here may do everything; the studio checks it as well. */
  get isOwner() {
    return this.role === "owner";
  },

  /** Whether whoever works here is asked, and labels. */
  get isLabeller() {
    return this.isOwner || this.role === "annotator";
  },

  /** Whether whoever works here settles disagreements. */
  get isJudge() {
    return this.isOwner || this.role === "reviewer";
  },

  /** Whether the node that is shown is the asked one. */
  get atHome() {
    return this.trail.length === 0;
  },

  /** The node that a class button would label now, or null. */
  get target() {
    return (this.isLabeller ? (this.atHome ? this.query?.node : this.trail.at(-1).node) : null) ?? null;
  },

  /**
   * Whether no prediction must be seen now, of any node: the asked one is to be judged without it, and those of its
   * neighbours would tell it.
   */
  get blind() {
    return this.query !== null && (this.query.audit || this.query.card.hidden);
  },

  /** What labels and predictions on a picture depend on: the log, the predictions, and who looks. */
  get moment() {
    const { status, me } = this;
    return `${status?.last} ${status?.predictions_version} ${status?.updating} ${me}`;
  },

  /** Whether there is no label yet to learn from. */
  get unlearned() {
    return this.status !== null && this.status.told + this.status.given === 0;
  },

  /**
   * The class that Enter gives to the node that is shown, or null: not on questions of the audit, nor where another
   * opinion is wanted.
   */
  get acceptable() {
    const { card, query } = this;
    const wanted = this.atHome ? query !== null && !query.audit : card?.label === null;
    if (!wanted || this.blind || card.hidden || card.updating || !card.predicted?.length) return null;
    return several() ? labelOf(card.given ?? []) : card.predicted[0][0];
  },

  /** What this annotator has said of the row that is shown, or what counts where nobody has; null: nothing. */
  get said() {
    const { card, me } = this;
    return card.votes[me] ?? (Object.keys(card.votes).length ? null : card.label);
  },

  /**
   * What is chosen for the row that is shown; null where nothing was touched. `none`: none of the classes is chosen,
   * which is more than that no class is.
   */
  get choice() {
    const made = this.choices.get(this.target);
    return made ? { ...made, names: made.names.filter((name) => classes().includes(name)) } : null;
  },

  /** The same, or else what was said of the row before. */
  get standing() {
    const made = this.choice;
    const before = made || this.atHome ? null : this.said;
    return made ?? (before === null ? { names: [], none: false } : { names: membersOf(before), none: before === NONE });
  },
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
  if (changes.status) learnJob(changes.status);
  tell(...Object.keys(changes));
}

export function tell(...names) {
  for (const action of new Set(names.flatMap((name) => listeners.get(name) ?? []))) action(state);
}

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
