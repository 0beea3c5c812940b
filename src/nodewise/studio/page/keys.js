// The keyboard. Keys work everywhere but in fields and dialogs; what a canvas understands it takes first.

import { chooseNumber, focusFilter, openNaming } from "./choices.js";
import { back, retry, skip, undo } from "./flow.js";
import { chooseNone, enter } from "./picking.js";
import { state } from "./store.js";
import { acceptModel } from "./voices.js";

/** Every key with what it does, for the help. */
export const KEYS = [
  ["1 … 9, 0", "give the first ten classes"],
  ["Enter", "accept the prediction that is shown (none is on audit questions and second opinions, nor in focus)"],
  ["−", "where a row may have several classes: none of them; a class’s key chooses it or not, Enter saves"],
  ["m", "accept what the first model on the card says (shown where predictions are, never in focus)"],
  ["f", "filter the classes (where there are more than ten)"],
  ["n or +", "add a class"],
  ["s", "skip: it cannot be told, and spends no budget"],
  ["u or Ctrl Z", "undo your last change"],
  ["r", "send again what could not be saved"],
  ["Esc", "back to the asked row; leave focus; close a dialog and throw away what was typed in it"],
  ["Backspace", "one step back while looking around"],
  ["/", "search for a row"],
  ["g", "switch between neighbourhood and map"],
  ["h", "the rows joined to it, or also those joined to them (one or two steps)"],
  ["p", "progress, history, annotators in turn"],
  ["x", "focus: the text and the classes alone; again: everything"],
  ["l", "the table of all rows"],
  ["o", "choose rows on the map, to label them in one go"],
  ["c", "the settings of the session"],
  ["e", "export"],
  ["t", "theme: auto, dark, light"],
  ["?", "this help"],
];

export const CANVAS_KEYS = [
  ["arrows", "move the picture, when it has the focus"],
  ["+  −", "closer, further"],
  ["0", "see all"],
  ["Enter", "look at the row nearest to the middle"],
  ["Space", "take it into the choice, while rows are chosen on the map"],
];

/** @param {Record<string, () => void>} actions what the keys of other parts do, by key. */
export function startKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || inField(event.target) || document.querySelector("dialog[open]"))
      return;
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (!event.repeat) undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const digit = digitOf(event);
    if (digit !== null) {
      event.preventDefault();
      if (!event.repeat) chooseNumber(digit);
      return;
    }
    if (
      event.key === "Enter" &&
      event.target instanceof HTMLElement &&
      event.target.closest("button:not([role=checkbox], .save), a, summary, canvas, [role=tab]")
    )
      return; // it has its own use there
    const action = {
      Enter: enter,
      "-": chooseNone,
      n: openNaming,
      "+": openNaming,
      f: focusFilter,
      m: acceptModel,
      s: skip,
      u: () => undo(),
      r: retry,
      Backspace: back,
      ...actions,
    }[event.key];
    if (!action) return;
    event.preventDefault();
    if (!event.repeat && state.phase !== "loading") action();
  });
}

/** The digit of a key, also where digits are typed with Shift; null for any other. */
function digitOf(event) {
  if (/^\d$/.test(event.key)) return Number(event.key);
  const row = /^Digit(\d)$/.exec(event.code ?? "");
  return row && !event.shiftKey && !/^[a-z?/]$/i.test(event.key) ? Number(row[1]) : null;
}

function inField(element) {
  return (
    element instanceof HTMLElement && (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName))
  );
}
