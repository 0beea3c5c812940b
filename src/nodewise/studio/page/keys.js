// The keyboard. Keys work everywhere but in fields and dialogs; what a canvas understands it takes first.

import { classOf, commandOf, hasItsOwnUse } from "./hotkeys.js";
import { nameOf } from "./labels.js";

/**
 * @param {{phase: string}} seen how far the page is.
 * @param {Record<string, () => void>} does what each command does; `Escape` is a key of its own.
 * @param {(number: number) => void} chooseNumber what the key of a class does.
 */
export function startKeys(seen, does, chooseNumber) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || inField(event.target) || document.querySelector("dialog[open]"))
      return;
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (!event.repeat) does.undo();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (hasItsOwnUse(event)) return;
    const command = event.key === "Escape" ? "Escape" : commandOf(event, (each) => nameOf(each) !== null);
    const number = classOf(command);
    const action = number === null ? does[command] : () => chooseNumber(number);
    if (!action) return;
    event.preventDefault();
    if (!event.repeat && seen.phase !== "loading") action();
  });
}

function inField(element) {
  return (
    element instanceof HTMLElement && (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName))
  );
}
