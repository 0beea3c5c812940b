// Where a row may have several classes: those that are chosen for the row that is shown, until they are saved. A choice
// stays with its row, so that looking at another one loses nothing.

import { announce, byId } from "./dom.js";
import { accept, choose, free } from "./flow.js";
import { shownKey } from "./hotkeys.js";
import { choiceWords, chosenLabel, classes, several } from "./labels.js";
import { set, state, tell } from "./store.js";

/** Choose a class, or leave it out again. */
function toggle(name) {
  if (state.target === null || !free()) return;
  const { names } = state.standing;
  const now = names.includes(name) ? names.filter((other) => other !== name) : [...names, name];
  put(inOrder(now), false);
}

/** Choose a class that has just been made, though the row has been shown for a moment only. */
export function pickNew(name) {
  if (several() && state.target !== null) put(inOrder([...state.standing.names, name]), false);
}

const inOrder = (names) => classes().filter((each) => names.includes(each));

/** Choose that it is none of the classes. */
export function chooseNone() {
  if (several() && state.target !== null && free()) put([], true);
}

function put(names, none) {
  state.choices.set(state.target, { names, none });
  // a link that led here would take Enter, which is to save now
  if (document.activeElement instanceof HTMLElement && !byId("choices").contains(document.activeElement))
    document.activeElement.blur();
  set({ hint: "" });
  tell("choice");
  announce(choiceWords(state.standing));
}

/** Give the row a class at once, or where it may have several choose it. */
export const pick = (name) => (several() ? toggle(name) : choose(name));

/** Save what is chosen. */
export async function confirm() {
  const [node, label] = [state.target, chosenLabel(state.choice)];
  if (node === null || label === null) {
    set({ hint: `no class is chosen: press a class’s key, or ${shownKey("none")} for none of them` });
    return;
  }
  if (await choose(label)) {
    state.choices.delete(node);
    tell("choice");
  }
}

/** Enter: save what is chosen; where nothing was touched, accept the prediction that is shown. */
export const enter = () => (several() && state.choice ? confirm() : accept());
