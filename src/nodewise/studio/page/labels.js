// The classes of the job, and a label as one text: a class; where a row may have several, the classes with a semicolon
// between them, which alone means none of them. No class of such a job has a semicolon in its name.

import { count } from "./dom.js";

const BETWEEN = ";";
let job = { classes: [], numbers: {}, several: false };

/** What classes there are, as the studio tells it; whoever fetches that says so here. */
export const learnClasses = ({ classes, numbers, several }) => {
  job = { classes, numbers, several };
};

/** The names of the classes, in their order. */
export const classes = () => job.classes;

/** The number of a class, which it keeps; -1 for none. */
export const numberOf = (name) => (Object.hasOwn(job.numbers, name) ? job.numbers[name] : -1);

export const nameOf = (number) => job.classes.find((name) => numberOf(name) === number) ?? null;

/** None of the classes, as a text. */
export const NONE = BETWEEN;

/** Whether a row of this job may have several classes, or none. */
export const several = () => job.several === true;

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

/** How many classes are chosen for a row, in words; `none`: that it is none of them. */
export function choiceWords({ names, none }) {
  if (none) return "None of them is chosen";
  return names.length === 0 ? "No class is chosen yet" : `${count(names.length, "class", "classes")} chosen`;
}

/** The label that a choice makes; null where nothing is chosen. */
export const chosenLabel = (made) => (made && (made.none || made.names.length) ? labelOf(made.names) : null);
