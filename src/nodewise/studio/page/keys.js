// The keyboard. Keys work everywhere but in fields and dialogs; what a canvas understands it takes first.

import { chooseNumber, focusFilter, openNaming } from "./choices.js";
import { back, retry, skip, undo } from "./flow.js";
import { classOf, commandOf, hasItsOwnUse } from "./hotkeys.js";
import { chooseNone, enter } from "./picking.js";
import { nameOf, state } from "./store.js";
import { acceptModel } from "./voices.js";

/** @param {Record<string, () => void>} actions what the commands of other parts do; `Escape` is a key of its own. */
export function startKeys(actions) {
  const does = {
    accept: enter,
    none: chooseNone,
    class: openNaming,
    filter: focusFilter,
    model: acceptModel,
    skip,
    undo: () => undo(),
    retry,
    back,
    ...actions,
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || inField(event.target) || document.querySelector("dialog[open]"))
      return;
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (!event.repeat) undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (hasItsOwnUse(event)) return;
    const command = event.key === "Escape" ? "Escape" : commandOf(event, (each) => nameOf(each) !== null);
    const number = classOf(command);
    const action = number === null ? does[command] : () => chooseNumber(number);
    if (!action) return;
    event.preventDefault();
    if (!event.repeat && state.phase !== "loading") action();
  });
}

function inField(element) {
  return (
    element instanceof HTMLElement && (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName))
  );
}
