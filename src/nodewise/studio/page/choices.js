// The classes to choose from: buttons with number keys, a filter where there are many, a new class, skip and undo.

import { byId, count, h, icon, kept, renew, short, show } from "./dom.js";
import { classCommand, keyHint, shortcuts } from "./hotkeys.js";
import { chosenLabel, classes, nameOf, numberOf, several, wordsOf } from "./labels.js";
import { mark } from "./marks.js";

const MANY = 10;
const LONG = 13; // letters that a button of the usual size has room for in one line
let filter = "";
let aimed = 0; // which of the filtered classes Enter takes
let naming = false;

const parts = {};
/**
 * @type {{status: any, card: any, phase: string, sending: any, atHome: boolean, isOwner: boolean, said: string | null,
 *   target: number | null, choice: {names: string[], none: boolean} | null,
 *   standing: {names: string[], none: boolean}}} what they are drawn from
 */
let seen;
/**
 * @type {{pick: (name: string) => void, pickNew: (name: string) => void, chooseNone: () => void, confirm: () => void,
 *   enter: () => void, skip: () => void, undo: () => void, dismiss: () => void,
 *   addClass: (name: string, anyway?: boolean) => Promise<boolean>}} what is asked for in them
 */
let acts;

/** Put the classes into their place; gives what draws them anew, and what draws how far a change is. */
export function startChoices(/** @type {typeof seen} */ given, /** @type {typeof acts} */ heard) {
  [seen, acts] = [given, heard];
  parts.buttons = h("div", { class: "classes", role: "group", "aria-label": "Give this class" });
  parts.head = h("p", { class: "dock-head" });
  parts.filter = h("input", {
    type: "search",
    class: "filter",
    placeholder: "Type to choose",
    "aria-label": "Filter the classes; Enter takes the marked one",
    autocomplete: "off",
    spellcheck: "false",
    on: { input: filtered, keydown: filterKey },
  });
  parts.filterRow = h("div", { class: "filter-row", hidden: true }, parts.filter, keyHint("filter"));
  parts.add = h(
    "button",
    { type: "button", class: "ghost", on: { click: () => openNaming() } },
    icon("plus"),
    "Class",
    keyHint("class"),
  );
  parts.skip = h(
    "button",
    {
      type: "button",
      class: "ghost",
      title: "You cannot tell its class: skip it. That spends no budget.",
      on: { click: () => acts.skip() },
    },
    "Skip",
    keyHint("skip"),
  );
  parts.undo = h(
    "button",
    { type: "button", class: "ghost", title: "Take back your last change", on: { click: () => acts.undo() } },
    "Undo",
    keyHint("undo"),
  );
  parts.more = h("p", { class: "more-classes quiet" });
  parts.buttons.addEventListener("scroll", drawMore, { passive: true });
  new ResizeObserver(drawMore).observe(parts.buttons);
  parts.none = h(
    "button",
    {
      type: "button",
      class: "class none",
      role: "checkbox",
      "aria-keyshortcuts": shortcuts("none"),
      data: { command: "none" },
      title: "None of the classes: that is an answer, and no skip",
      on: { click: () => acts.chooseNone() },
    },
    h("span", { class: "mark hollow", "aria-hidden": "true", data: { colour: "none" } }, "–"),
    h("span", { class: "name" }, "None of them"),
    keyHint("none"),
  );
  parts.save = h("button", { type: "button", class: "primary save", on: { click: () => acts.confirm() } });
  parts.set = h("div", { class: "set-row", hidden: true }, parts.none, parts.save);
  parts.form = namingForm();
  put();
  return { draw, drawPhase };
}

function put() {
  const dock = byId("choices");
  dock.prepend(
    h(
      "div",
      { class: "dock-top" },
      parts.head,
      parts.filterRow,
      h("div", { class: "actions" }, parts.skip, parts.undo, parts.add),
    ),
    parts.buttons,
    parts.more,
    parts.set,
    parts.form,
  );
}

/** Whether this browser shows the likeliest class first. */
export const likeliestFirst = () => kept.read("class-order", "fixed") === "likely";

/** Have this browser show the likeliest class first, or the classes in their own order; keys and colours stay. */
export function orderClasses(likely) {
  kept.write("class-order", likely ? "likely" : "fixed");
  draw();
}

/** The classes in their order on the screen: where no prediction may be seen, always their own. */
function inOrder() {
  const all = classes().map((name) => ({ name, number: numberOf(name) }));
  const chances = likeliestFirst() && !seen.card?.hidden ? seen.card?.predicted : null;
  if (!chances) return all;
  const chance = new Map(chances);
  return all.sort((one, other) => (chance.get(other.name) ?? 0) - (chance.get(one.name) ?? 0));
}

function shown() {
  const wanted = filter.toLowerCase();
  const all = inOrder();
  if (!wanted) return all;
  const begins = all.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  return [
    ...begins,
    ...all.filter(({ name }) => name.toLowerCase().includes(wanted) && !name.toLowerCase().startsWith(wanted)),
  ];
}

function draw() {
  const { card, status, atHome, isOwner } = seen;
  if (!status) return;
  byId("choices").hidden = card === null;
  if (card === null) return;
  const many = classes().length > MANY;
  parts.filterRow.hidden = !many;
  if (!many && filter) {
    filter = "";
    parts.filter.value = "";
  }
  const mine = seen.said;
  const chosen = several() ? seen.standing.names : atHome || mine === null ? [] : [mine];
  show(
    parts.head,
    classes().length === 0
      ? isOwner
        ? "There is no class yet: name the first one"
        : "There is no class yet: the session's owner adds them"
      : atHome
        ? several()
          ? "Which classes? Choose any, then save"
          : "Which class is it?"
        : mine
          ? "Change its label"
          : "Label it too",
  );
  drawSet();
  parts.buttons.classList.toggle("many", many);
  parts.buttons.classList.toggle("long-words", classes().some(hasLongWord));
  parts.skip.hidden = !atHome;
  parts.add.hidden = !isOwner;
  const focused = focusedLabel();
  const list = shown();
  aimed = Math.min(aimed, Math.max(0, list.length - 1));
  renew(parts.buttons, [list, mine, chosen, aimed, filter, many, atHome], () => [
    list.map(({ name, number }, row) =>
      classButton(name, number, {
        chosen: chosen.includes(name),
        aimed: many && filter !== "" && row === aimed,
      }),
    ),
    list.length === 0 &&
      classes().length > 0 &&
      h(
        "p",
        { class: "quiet" },
        `No class is called like “${short(filter, 40)}”. `,
        isOwner &&
          h(
            "button",
            { type: "button", class: "small", on: { click: () => openNaming(filter) } },
            "Make it a new class",
          ),
      ),
  ]);
  if (classes().length === 0 && isOwner) openNaming("", false);
  if (focused !== undefined && focusedLabel() === undefined)
    [...parts.buttons.children].find((button) => button.dataset.label === focused)?.focus({ preventScroll: true });
  drawMore();
  drawPhase();
}

/** Whether a name holds a word that a button of the usual size would break. */
const hasLongWord = (name) => name.split(/[\s-]+/).some((word) => word.length > LONG);

/** What is chosen where a row may have several classes, and the button that saves it. */
function drawSet() {
  parts.set.hidden = !several() || classes().length === 0;
  if (parts.set.hidden) return;
  const { none } = seen.standing;
  const label = chosenLabel(seen.choice);
  parts.none.classList.toggle("chosen", none);
  parts.none.setAttribute("aria-checked", String(none));
  parts.save.setAttribute("aria-disabled", String(label === null));
  renew(parts.save, [label], () => [
    h("span", { class: "name" }, label === null ? "Save" : `Save: ${wordsOf(label)}`),
    keyHint("accept"),
  ]);
}

/** How many classes are out of sight, and how they are reached. */
function drawMore() {
  const frame = parts.buttons.getBoundingClientRect();
  const hidden = [...parts.buttons.querySelectorAll("button.class")].filter((button) => {
    const box = button.getBoundingClientRect();
    return (
      box.bottom > frame.bottom + 4 ||
      box.top < frame.top - 4 ||
      box.right > frame.right + 4 ||
      box.left < frame.left - 4
    );
  }).length;
  const field = !parts.filterRow.hidden; // it says so itself: the text needs the room
  parts.filter.placeholder = hidden ? `Type to choose: ${hidden} more below` : "Type to choose";
  parts.more.hidden = hidden === 0 || field;
  show(parts.more, `${count(hidden, "more class", "more classes")}: scroll.`);
}

function classButton(name, number, { chosen, aimed: marked }) {
  const command = classCommand(number);
  return h(
    "button",
    {
      type: "button",
      class: `class${chosen ? " chosen" : ""}${marked ? " aimed" : ""}`,
      title: seen.status.descriptions[name] ? `${name}: ${seen.status.descriptions[name]}` : name,
      data: { label: name, ...(command ? { command } : {}) },
      ...(several()
        ? { role: "checkbox", "aria-checked": String(chosen) }
        : { "aria-pressed": chosen ? "true" : null }),
      "aria-keyshortcuts": command ? shortcuts(command) : null,
      on: { click: () => acts.pick(name) },
    },
    mark(number),
    h("span", { class: "name", dir: "auto" }, name),
    command && keyHint(command),
  );
}

/** The class whose button has the focus. */
const focusedLabel = () => /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.label;

function drawPhase() {
  const busy = seen.phase !== "ready";
  const sent = [seen.sending?.body.labels?.[0].label].flat();
  for (const button of parts.buttons.querySelectorAll("button.class")) {
    button.setAttribute("aria-disabled", String(busy));
    button.classList.toggle("sending", sent.includes(button.dataset.label));
  }
  parts.skip.setAttribute("aria-disabled", String(busy));
  parts.undo.setAttribute("aria-disabled", String(["saving", "asking", "loading"].includes(seen.phase)));
}

/** Give the class of a number, from 0. */
export function chooseNumber(number) {
  const name = nameOf(number);
  if (name !== null && seen.target !== null) acts.pick(name);
}

export function focusFilter() {
  if (!parts.filterRow.hidden) parts.filter.focus();
}

function filtered() {
  filter = parts.filter.value.trim();
  aimed = 0;
  draw();
}

function filterKey(event) {
  const list = shown();
  if (event.key === "Enter") {
    event.preventDefault();
    if (event.repeat) return;
    if (!filter && several()) acts.enter();
    else if (filter && list[aimed]) {
      acts.pick(list[aimed].name);
      parts.filter.value = "";
      filter = "";
      draw();
    }
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    aimed = Math.max(0, Math.min(list.length - 1, aimed + (event.key === "ArrowDown" ? 1 : -1)));
    draw();
    parts.buttons.children[aimed]?.scrollIntoView({ block: "nearest" });
  } else if (event.key === "Escape") {
    event.stopPropagation();
    parts.filter.value = "";
    filtered();
    parts.filter.blur();
  }
}

function namingForm() {
  parts.name = h("input", {
    id: "class-name",
    maxlength: "200",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "Name of the new class",
    "aria-label": "Name of the new class",
    on: {
      keydown: (event) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          closeNaming();
        }
      },
    },
  });
  parts.cancel = h("button", { type: "button", class: "ghost", on: { click: () => closeNaming() } }, "Cancel");
  return h(
    "form",
    { class: "naming", hidden: true, on: { submit: named } },
    parts.name,
    h("button", { class: "primary" }, "Add class"),
    parts.cancel,
  );
}

/** Ask for the name of a new class. */
export function openNaming(text = "", focus = true) {
  if (!seen.isOwner) return;
  naming = true;
  parts.form.hidden = false;
  parts.cancel.hidden = classes().length === 0;
  if (text) parts.name.value = text;
  if (focus) parts.name.focus();
}

function closeNaming() {
  naming = classes().length === 0;
  parts.form.hidden = !naming;
  parts.name.value = "";
  parts.add.focus();
}

/** The class is declared; its button gets the focus, so that Enter gives it to the node. */
async function named(event) {
  event.preventDefault();
  const name = parts.name.value.trim();
  if (!name || seen.phase === "saving") return;
  if (classes().includes(name)) {
    closeNaming();
    focusClass(name);
    return;
  }
  if (await acts.addClass(name)) declared(name);
}

/** Declare a class though it looks like another one misspelt. */
export async function declareAnyway(name) {
  if (await acts.addClass(name, true)) declared(name);
}

/** The class that was meant is there: no new one is needed. */
export function takeInstead(name) {
  acts.dismiss();
  declared(name);
}

function declared(name) {
  parts.name.value = "";
  parts.form.hidden = true;
  naming = false;
  filter = parts.filter.value = "";
  draw();
  acts.pickNew(name);
  focusClass(name);
}

function focusClass(name) {
  const button = [...parts.buttons.children].find((each) => each.dataset.label === name);
  button?.scrollIntoView({ block: "nearest" });
  button?.focus({ preventScroll: true });
}
