// Where a row may have several classes: those that are chosen for the row that is shown, until they are saved. A choice
// stays with its row, so that looking at another one loses nothing.

import { announce, byId, count } from "./dom.js";
import { accept, choose, free } from "./flow.js";
import { shownKey } from "./hotkeys.js";
import { labelOf, membersOf, NONE, several } from "./labels.js";
import { atHome, classes, set, state, target, tell } from "./store.js";

/** @type {Map<number, {names: string[], none: boolean}>} */
const choices = new Map();

/** What this annotator has said of the row that is shown, or what counts where nobody has; null: nothing. */
export function said() {
  const { card } = state;
  return card.votes[state.me] ?? (Object.keys(card.votes).length ? null : card.label);
}

/**
 * What is chosen for the row that is shown; null where nothing was touched. `none`: none of the classes is chosen,
 * which is more than that no class is.
 */
export function choice() {
  const made = choices.get(target());
  if (!made) return null;
  return { ...made, names: made.names.filter((name) => classes().includes(name)) };
}

/** The same, or else what was said of the row before. */
export function standing() {
  const made = choice();
  const before = made || atHome() ? null : said();
  return made ?? (before === null ? { names: [], none: false } : { names: membersOf(before), none: before === NONE });
}

/** Choose a class, or leave it out again. */
function toggle(name) {
  if (target() === null || !free()) return;
  const { names } = standing();
  const now = names.includes(name) ? names.filter((other) => other !== name) : [...names, name];
  put(inOrder(now), false);
}

/** Choose a class that has just been made, though the row has been shown for a moment only. */
export function pickNew(name) {
  if (several() && target() !== null) put(inOrder([...standing().names, name]), false);
}

const inOrder = (names) => classes().filter((each) => names.includes(each));

/** Choose that it is none of the classes. */
export function chooseNone() {
  if (several() && target() !== null && free()) put([], true);
}

function put(names, none) {
  choices.set(target(), { names, none });
  // a link that led here would take Enter, which is to save now
  if (document.activeElement instanceof HTMLElement && !byId("choices").contains(document.activeElement))
    document.activeElement.blur();
  set({ hint: "" });
  tell("choice");
  announce(choiceWords());
}

/** Give the row a class at once, or where it may have several choose it. */
export const pick = (name) => (several() ? toggle(name) : choose(name));

/** How many classes are chosen, in words. */
export function choiceWords() {
  const { names, none } = standing();
  if (none) return "None of them is chosen";
  return names.length === 0 ? "No class is chosen yet" : `${count(names.length, "class", "classes")} chosen`;
}

/** What would be saved, in words; null where nothing is chosen. */
export function chosenLabel() {
  const made = choice();
  return made && (made.none || made.names.length) ? labelOf(made.names) : null;
}

/** Save what is chosen. */
export async function confirm() {
  const [node, label] = [target(), chosenLabel()];
  if (node === null || label === null) {
    set({ hint: `no class is chosen: press a class’s key, or ${shownKey("none")} for none of them` });
    return;
  }
  if (await choose(label)) {
    choices.delete(node);
    tell("choice");
  }
}

/** Enter: save what is chosen; where nothing was touched, accept the prediction that is shown. */
export const enter = () => (several() && choice() ? confirm() : accept());
