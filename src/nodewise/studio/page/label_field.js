// Choosing a label for rows that are not shown: a list of the classes, or where a row may have several a box for each.

import { h, short, show } from "./dom.js";
import { classes, labelOf, membersOf, NONE, several, wordsOf } from "./labels.js";
import { classMark } from "./marks.js";

/**
 * @param {string} title what is chosen, for those who do not see it.
 * @param {{value?: string, empty?: string | null, without?: string[], changed?: (label: string) => void}} [options]
 *   `value`: what is chosen at first; `empty`: what stands there while nothing is, null where the first class is;
 *   `without`: classes that are not offered.
 * @returns {{element: HTMLElement, value: () => string}} what to show, and the label: "" while nothing is chosen.
 */
export function labelField(title, { value = "", empty = null, without = [], changed = () => {} } = {}) {
  return several()
    ? boxes(title, value, empty ?? "choose classes …", changed)
    : list(title, value, empty, without, changed);
}

function list(title, value, empty, without, changed) {
  const names = classes().filter((name) => !without.includes(name));
  const field = h(
    "select",
    { "aria-label": title },
    empty !== null && h("option", { value: "" }, empty),
    names.map((name) => h("option", { value: name }, name)),
  );
  if (names.includes(value)) field.value = value;
  field.addEventListener("change", () => changed(field.value));
  return { element: field, value: () => field.value };
}

function boxes(title, value, empty, changed) {
  let label = value;
  const words = h("summary", {});
  const draw = () => {
    show(words, label === "" ? empty : short(wordsOf(label), 40));
    words.setAttribute("aria-label", `${title}: ${label === "" ? empty : wordsOf(label)}`);
    const chosen = label === "" ? [] : membersOf(label);
    for (const [name, box] of all) box.checked = name === NONE ? label === NONE : chosen.includes(name);
  };
  const take = (name, checked) => {
    const others = label === "" ? [] : membersOf(label);
    const now = classes().filter((each) => (each === name ? checked : others.includes(each)));
    label = name === NONE ? (checked ? NONE : "") : now.length ? labelOf(now) : "";
    draw();
    changed(label);
  };
  const all = [...classes(), NONE].map((name) => {
    const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
    box.addEventListener("change", () => take(name, box.checked));
    return /** @type {[string, HTMLInputElement]} */ ([name, box]);
  });
  const field = h(
    "details",
    { class: "set-field" },
    words,
    h(
      "div",
      { class: "set-boxes", role: "group", "aria-label": title },
      all.map(([name, box]) =>
        h("label", { class: "choice" }, box, classMark(name), h("span", { dir: "auto" }, wordsOf(name))),
      ),
    ),
  );
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !field.open) return;
    event.stopPropagation();
    event.preventDefault();
    field.open = false;
    words.focus();
  });
  draw();
  return { element: field, value: () => label };
}
