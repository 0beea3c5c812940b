// The classes of the job, and a label as one text: a class; where a row may have several, the classes with a semicolon
// between them, which alone means none of them. No class of such a job has a semicolon in its name.

import { count, percent } from "./dom.js";

const BETWEEN = ";";
let job = { classes: [], numbers: {}, balance: {}, several: false, named: true };

/** What classes there are and whether rows have names, as the studio tells it; whoever fetches that says so here. */
export const learnJob = ({ classes, numbers, balance, several, named }) => {
  job = { classes, numbers, balance, several, named };
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

/** Whether one class alone has labels: it is predicted for every row, for want of another. */
export const aloneKnown = () => !several() && job.classes.filter((name) => job.balance[name] > 0).length === 1;

/** How sure a prediction is, in words. */
export const sureness = (chance) => (chance === 1 && aloneKnown() ? "the only class so far" : percent(chance));

const NODES = /(?<!\w)node '(\d+)'|(?<!\w)'[^']*'|"[^"]*"|“[^”]*”|(?<![\w/.-])node(?=s?\b(?![.-]\w))/g;

/**
 * A sentence of the studio in the page's words: whoever labels a table has rows, and those without names are counted
 * from 1. What is quoted stays.
 */
export const inRows = (text) =>
  text.replace(NODES, (all, number) =>
    number === undefined ? (all === "node" ? "row" : all) : `row ${job.named ? `'${number}'` : Number(number) + 1}`,
  );

const LIKELY = 3;

/** The likeliest classes; where a row may have several, every one that it would be given, then the likeliest others. */
export function likeliest(chances, given) {
  if (!several()) return chances.slice(0, LIKELY);
  const inside = chances.filter(([name]) => given.includes(name));
  const outside = chances.filter(([name]) => !given.includes(name));
  return [...inside, ...outside.slice(0, Math.max(1, LIKELY - inside.length))];
}
