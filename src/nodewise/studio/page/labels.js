// A label as one text: a class; where a row may have several, the classes with a semicolon between them, which alone
// means none of them. No class of such a job has a semicolon in its name.

import { numberOf, state } from "./store.js";

const BETWEEN = ";";

/** None of the classes, as a text. */
export const NONE = BETWEEN;

/** Whether a row of this job may have several classes, or none. */
export const several = () => state.status?.several === true;

/** The classes that a label names. */
export const membersOf = (label) => (several() ? label.split(BETWEEN).filter(Boolean) : [label]);

/** The label that names these classes. */
export const labelOf = (names) => names.join(BETWEEN) || NONE;

/** A label as people read it. */
export const wordsOf = (label) => (several() && label !== null ? membersOf(label).join(", ") || "none of them" : label);

/** A label as the studio takes it: of several classes a list. */
export const answerOf = (label) => (several() ? membersOf(label) : label);

/** The numbers of the classes of a label, or null where there is no label. */
export function numbersOf(label) {
  if (label === null || label === undefined) return null;
  const numbers = membersOf(label)
    .map(numberOf)
    .filter((number) => number >= 0);
  return numbers.length > 0 || several() ? numbers : null;
}
