// Which key does what. A person may give every command another key: that stays in this browser, as a file if wanted,
// and the help and the hints on buttons follow.

import { h, kept } from "./dom.js";

const STORED = "keys";
const CLASSES = 10;
const LONG_KEYS = { " ": "Space", Enter: "Enter", Backspace: "Backspace", Delete: "Delete" };

/** @typedef {{id: string, keys: string[], does: string}} Command */

/** Every command with its usual keys and what it does; the classes come first. @type {Command[]} */
export const COMMANDS = [
  ...Array.from({ length: CLASSES }, (_, index) => ({
    id: `class-${index + 1}`,
    keys: [String((index + 1) % CLASSES)],
    does: `give class ${index + 1}`,
  })),
  {
    id: "accept",
    keys: ["Enter"],
    does: "accept the prediction (none is shown on audits, second opinions and in focus), or save what is chosen",
  },
  {
    id: "none",
    keys: ["-", "w"],
    does: "where a row may have several classes: none of them (a class’s key chooses it or not)",
  },
  {
    id: "model",
    keys: ["m"],
    does: "accept what the first model on the card says (shown where predictions are, never in focus)",
  },
  { id: "filter", keys: ["f"], does: "filter the classes (where there are more than ten)" },
  { id: "class", keys: ["n", "+"], does: "add a class" },
  { id: "skip", keys: ["s"], does: "skip: it cannot be told, and spends no budget" },
  { id: "undo", keys: ["u"], does: "undo your last change (Ctrl Z does it too)" },
  { id: "retry", keys: ["r"], does: "send again what could not be saved" },
  { id: "back", keys: ["Backspace"], does: "one step back while looking around" },
  { id: "search", keys: ["/"], does: "search for a row" },
  { id: "graph", keys: ["g"], does: "switch between neighbourhood and map" },
  { id: "hops", keys: ["h"], does: "the rows joined to it, or also those joined to them (one or two steps)" },
  { id: "panel", keys: ["p"], does: "progress, history, annotators in turn" },
  { id: "focus", keys: ["x"], does: "focus: the text and the classes alone; again: everything" },
  { id: "table", keys: ["l"], does: "the table of all rows" },
  { id: "similar", keys: ["a"], does: "the rows most similar to the one that is shown, to label them together" },
  { id: "lasso", keys: ["o"], does: "choose rows on the map, to label them in one go" },
  { id: "settings", keys: ["c"], does: "the settings of the session" },
  { id: "export", keys: ["e"], does: "export" },
  { id: "theme", keys: ["t"], does: "theme: auto, dark, light" },
  { id: "help", keys: ["?"], does: "this help" },
];

const USUAL = new Map(COMMANDS.map(({ id, keys }) => [id, keys]));

/** The keys that this person has changed, by command. @type {Map<string, string>} */
let changed = new Map();

/** The keys of a command now. */
export const keysOf = (id) => (changed.has(id) ? [changed.get(id)] : (USUAL.get(id) ?? []));

/** Whether a command has another key than usual. */
export const isChanged = (id) => changed.has(id);

/** A key as it is written on the screen. */
export const called = (key) => LONG_KEYS[key] ?? (key === "-" ? "−" : key);

/** The first key of a command as it is written on the screen. */
export const shownKey = (id) => (keysOf(id).length ? called(keysOf(id)[0]) : "");

/** Why something is not accepted that cannot be seen. */
export const hiddenWords = (what) =>
  `${what} is hidden while you focus: press ${shownKey("focus")} to see it, or give a class by its key`;

/** The command that gives the class of a number, from 0; empty for those without a key. */
export const classCommand = (number) => (number >= 0 && number < CLASSES ? `class-${number + 1}` : "");

/** The number, from 0, of the class that a command gives; null where it gives none. */
export const classOf = (id) => (id?.startsWith("class-") ? Number(id.slice(6)) - 1 : null);

const commandOn = (key) => COMMANDS.find(({ id }) => keysOf(id).includes(key))?.id ?? null;

/**
 * The command whose key was pressed, or null. The sign that is typed decides; a letter is the same with Caps Lock, and
 * on a keyboard without Latin letters its place counts. In the row of digits the digit counts also where it is typed
 * with Shift, if there is such a class: on a French keyboard “-” stands on the 6.
 *
 * @param {KeyboardEvent} event
 * @param {(number: number) => boolean} isClass whether there is a class of a number, from 0.
 */
export function commandOf(event, isClass = () => true) {
  for (const [id, key] of changed) if (key === event.key) return id;
  const digit = digitOf(event);
  const isMeant = digit !== null && isClass((Number(digit) + CLASSES - 1) % CLASSES);
  const signs = [isMeant ? digit : null, event.key, letterOf(event)];
  return signs.map((sign) => (sign === null ? null : commandOn(sign))).find((id) => id !== null) ?? null;
}

/** The digit of a key in the row of digits that types something else without Shift, or null. */
function digitOf(event) {
  if (/^\d$/.test(event.key)) return event.key;
  const row = /^Digit(\d)$/.exec(event.code ?? "");
  return row && !event.shiftKey && !/^[a-z?/]$/i.test(event.key) ? row[1] : null;
}

/** The small Latin letter of a key without Shift, whatever Caps Lock and another alphabet make of it, or null. */
function letterOf(event) {
  if (event.shiftKey || !/^\p{L}$/u.test(event.key)) return null;
  const where = /^Key([A-Z])$/.exec(event.code ?? "");
  return (where && !/\p{Script=Latin}/u.test(event.key) ? where[1] : event.key).toLowerCase();
}

/** Whether Enter or Space presses what has the focus, whatever else the key means. */
export function hasItsOwnUse(event) {
  const used = {
    Enter: "button:not([role=checkbox], .save), a, summary, canvas, [role=tab]",
    " ": "button, a, summary, canvas, input, [role=tab]",
  }[event.key];
  return used !== undefined && event.target instanceof HTMLElement && event.target.closest(used) !== null;
}

/** Why a command may not have a key, as a sentence; empty where it may. */
export function refusal(id, key, among = changed) {
  if (!Object.hasOwn(LONG_KEYS, key) && [...key].length !== 1)
    return `${key} cannot be a command’s key: take a letter, a digit, a sign, Space, Enter, Backspace or Delete.`;
  const taken = COMMANDS.find(
    (other) => other.id !== id && (among.has(other.id) ? [among.get(other.id)] : other.keys).includes(key),
  );
  return taken
    ? `“${called(key)}” is the key for “${taken.does.split(/[:(]/)[0].trim()}” already: give that another key first.`
    : "";
}

/** Give a command another key, or its usual one again (null); why not, as a sentence, where it may not have it. */
export function bind(id, key) {
  const next = new Map(changed);
  next.delete(id);
  const wanted = key === null ? (USUAL.get(id) ?? []) : [key];
  for (const each of wanted) {
    const why = refusal(id, each, next);
    if (why) return why;
  }
  if (key !== null && USUAL.get(id)?.join() !== key) next.set(id, key);
  take(next);
  return "";
}

/** All keys as they were at first. */
export const resetKeys = () => take(new Map());

/** How many commands have another key than usual. */
export const changes = () => changed.size;

/** The changed keys as the text of a file. */
export const writeKeys = () => `${JSON.stringify({ nodewise_keys: 1, keys: Object.fromEntries(changed) }, null, 1)}\n`;

/**
 * The keys in such a text.
 *
 * @param {string} text
 * @returns {{keys: Map<string, string>, why: string}} why they may not be taken, as a sentence; empty where they may.
 */
function keysIn(text) {
  const refused = (why) => ({ keys: new Map(), why });
  let given;
  try {
    given = JSON.parse(text);
  } catch {
    given = null;
  }
  if (given?.nodewise_keys !== 1 || typeof given.keys !== "object" || given.keys === null || Array.isArray(given.keys))
    return refused("This is no file of keys: take one that “Save to a file” has written here.");
  const keys = new Map();
  for (const [id, key] of Object.entries(given.keys)) {
    if (!USUAL.has(id))
      return refused(`The file names a command that is not here, “${id.slice(0, 40)}”. Nothing was changed.`);
    if (typeof key !== "string") return refused(`The file has no key for “${id}”. Nothing was changed.`);
    keys.set(id, key);
  }
  for (const [id, key] of keys) {
    const why = refusal(id, key, keys);
    if (why) return refused(`${why} Nothing was changed.`);
  }
  return { keys, why: "" };
}

/** Take the keys of such a text, all or none; why not, as a sentence. */
export function readKeys(text) {
  const { keys, why } = keysIn(text);
  if (!why) take(keys);
  return why;
}

function take(next) {
  changed = next;
  kept.write(STORED, writeKeys());
  follow();
}

/** Have everything on the page that names a key name the one of now. */
function follow() {
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-command]"))) {
    const { command = "", keyTitle } = element.dataset;
    if (element.tagName === "KBD") element.textContent = shownKey(command);
    else element.setAttribute("aria-keyshortcuts", shortcuts(command));
    if (keyTitle !== undefined) element.title = `${keyTitle} (${shownKey(command)})`;
  }
  document.dispatchEvent(new CustomEvent("hotkeys"));
}

/** The keys of a command in the words of ARIA. */
export const shortcuts = (id) =>
  keysOf(id)
    .map((key) => ({ " ": "Space", "+": "Plus" })[key] ?? key)
    .join(" ");

/** The key of a command, as it is drawn in buttons; it follows when the key is another. */
export const keyHint = (id) => h("kbd", { "aria-hidden": "true", data: { command: id } }, shownKey(id));

/** The attributes of a button with a key and a title that names it. */
export const keyed = (id, title) => ({
  title: `${title} (${shownKey(id)})`,
  data: { command: id, keyTitle: title },
  "aria-keyshortcuts": shortcuts(id),
});

/** What this browser keeps; the usual keys where that is nothing, or spoilt. */
function restore() {
  changed = keysIn(kept.read(STORED, "")).keys;
  follow();
}

addEventListener("storage", (event) => {
  if (event.key === `nodewise.${STORED}`) restore(); // changed in another tab
});
restore();
