// What the table is asked: filters, class, person, sureness, words, order; how that is said in the page's address, and
// the fields in which one says it.

import { h, renew, settle } from "./dom.js";
import { classes, NONE, several, wordsOf } from "./labels.js";

/** The filters that are chosen one at a time, then those that can be added to them. */
const FIRST = [
  ["all", "all rows"],
  ["labelled", "labelled"],
  ["unlabelled", "not labelled"],
  ["confident", "sure predictions, to review"],
  ["unsure", "unsure predictions"],
  ["mistake", "likely mistakes"],
  ["unlike", "unlike all labelled rows"],
  ["model", "a model says otherwise"],
  ["disagreement", "people disagree"],
  ["settled", "settled disagreements"],
  ["skipped", "skipped"],
  ["noted", "with a note"],
  ["bulk", "labelled in bulk"],
  ["changed", "changed since labelled"],
];
const FURTHER = ["labelled", "unlabelled", "noted", "disagreement", "skipped", "bulk", "changed"];

/** Where a row may have several classes, neither mistakes nor models' answers are told. */
const offered = () => FIRST.filter(([name]) => !several() || !["mistake", "model"].includes(name));

const ORDERS = {
  confident: ["sure", true],
  model: ["sure", true],
  mistake: ["trust", false],
  unlike: ["unlike", false],
};

const EMPTY = {
  filters: [],
  label: "",
  by: "",
  model: "",
  least: "",
  most: "",
  q: "",
  sort: "node",
  column: "",
  descending: false,
};

const inPercent = (text) => {
  const number = Number.parseFloat(text);
  return Number.isFinite(number) && number >= 0 && number <= 100 ? String(number) : "";
};

/** The question that an address names; what it does not know is left out. */
export function fromPlace(place) {
  const known = new Set(FIRST.map(([name]) => name));
  const sorts = ["node", "name", "label", "predicted", "sure", "time", "trust", "unlike", "column"];
  return {
    ...EMPTY,
    filters: (place.filter ?? "").split(",").filter((name) => known.has(name) && name !== "all"),
    label: place.class ?? "",
    by: place.by ?? "",
    model: place.model ?? "",
    least: inPercent(place.from ?? ""),
    most: inPercent(place.to ?? ""),
    q: (place.q ?? "").slice(0, 200),
    sort: sorts.includes(place.sort) ? place.sort : "node",
    column: place.column ?? "",
    descending: place.down === "1",
  };
}

/** The address of a question, and of the row that is read. */
export const toPlace = (asked, row = null) => ({
  view: "table",
  filter: asked.filters.join(","),
  class: asked.label,
  by: asked.by,
  model: asked.model,
  from: asked.least,
  to: asked.most,
  q: asked.q,
  sort: asked.sort === "node" ? "" : asked.sort,
  column: asked.sort === "column" ? asked.column : "",
  down: asked.descending ? "1" : "",
  row: row === null ? "" : String(row + 1),
});

/** The same as the API takes it where something is done with the rows. */
export const toWhere = (asked, listing) => ({
  filter: asked.filters,
  label: asked.label || null,
  by: asked.by || null,
  said_by: asked.model || null,
  least: asked.least === "" ? null : Number(asked.least) / 100,
  most: asked.most === "" ? null : Number(asked.most) / 100,
  q: asked.q,
  sort: asked.sort,
  column: asked.sort === "column" ? asked.column : null,
  descending: asked.descending,
  listing,
});

/** The same as the API takes it where rows are read. */
export function toQuery(asked, listing) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(toWhere(asked, listing)))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== null && each !== "") query.append(name, String(each));
  return query;
}

/**
 * The fields in which a question is asked. `people` says who has labelled something; `changed` is called whenever it
 * is another one.
 *
 * @returns {{element: HTMLElement, draw: () => void}} `draw` shows the question as it is now.
 */
export function filterFields(view, people, changed) {
  const fields = {};
  const select = (key, label, options, take) => {
    const field = h("select", { "aria-label": label });
    field.addEventListener("change", () => {
      take(field.value);
      changed();
    });
    fields[key] = () => {
      const now = options();
      renew(field, now.list, () => now.list.map(([value, text]) => h("option", { value }, text)));
      field.value = now.value;
    };
    return field;
  };
  const first = select(
    "first",
    "Which rows",
    () => ({ list: offered(), value: view.asked.filters[0] ?? "all" }),
    (value) => {
      view.asked.filters = [
        ...(value === "all" ? [] : [value]),
        ...view.asked.filters.slice(1).filter((name) => name !== value),
      ];
      const order = ORDERS[value];
      if (order) [view.asked.sort, view.asked.descending] = order;
      else if (["trust", "unlike"].includes(view.asked.sort))
        [view.asked.sort, view.asked.descending] = ["node", false];
    },
  );
  const withOwn = (key, every, names) => ({
    list: [
      ["", every],
      ...[...new Set([...names, view.asked[key]])]
        .filter(Boolean)
        .map((name) => [name, key === "label" ? wordsOf(name) : name]),
    ],
    value: view.asked[key],
  });
  const label = select(
    "label",
    "Which class",
    () => withOwn("label", "every class", several() ? [...classes(), NONE] : classes()),
    (value) => {
      view.asked.label = value;
    },
  );
  const by = select(
    "by",
    "Labelled by",
    () => withOwn("by", "anybody", people()),
    (value) => {
      view.asked.by = value;
    },
  );
  const model = select(
    "model",
    "Suggested by",
    () => withOwn("model", "any model, or none", view.models),
    (value) => {
      view.asked.model = value;
    },
  );
  const typed = (key, props, take) => {
    const field = h("input", props);
    field.addEventListener(
      "input",
      settle(
        () => {
          take(field.value);
          changed();
        },
        250,
        600,
      ),
    );
    fields[key] = () => {
      if (document.activeElement !== field) field.value = view.asked[key];
    };
    return field;
  };
  const search = typed(
    "q",
    { type: "search", placeholder: "Search names and texts", "aria-label": "Search in the table", maxlength: "200" },
    (value) => {
      view.asked.q = value.trim();
    },
  );
  const share = (key, label) =>
    typed(
      key,
      { type: "number", min: "0", max: "100", step: "1", "aria-label": label, class: "percent", placeholder: "%" },
      (value) => {
        view.asked[key] = inPercent(value);
      },
    );
  const least = share("least", "Sure, from percent");
  const most = share("most", "Sure, to percent");
  const further = FURTHER.map((name) => {
    const box = h("input", { type: "checkbox" });
    box.addEventListener("change", () => {
      const others = view.asked.filters.filter((other) => other !== name);
      view.asked.filters = box.checked ? [...others, name] : others;
      changed();
    });
    const element = h("label", {}, box, ` ${FIRST.find(([each]) => each === name)[1]}`);
    fields[`box ${name}`] = () => {
      box.checked = view.asked.filters.includes(name);
      element.hidden = name === view.asked.filters[0];
    };
    return element;
  });
  const boxes = h("span", { class: "filter-boxes" }, further);
  const used = () =>
    [view.asked.by, view.asked.model, view.asked.least, view.asked.most].filter(Boolean).length +
    Math.max(0, view.asked.filters.length - 1);
  const summary = h("summary", {});
  fields.summary = () => {
    summary.textContent = used() ? `More filters (${used()})` : "More filters";
  };
  const more = h(
    "details",
    { class: "more-filters", open: used() > 0 },
    summary,
    h(
      "div",
      { class: "more-fields" },
      h("label", {}, "Labelled by ", by),
      h("label", {}, "Suggested by ", model),
      h("span", {}, "Sure from ", least, " to ", most, " %"),
      boxes,
    ),
  );
  const draw = () => {
    for (const field of Object.values(fields)) field();
  };
  return { element: h("div", { class: "table-filters" }, first, label, search, more), draw };
}
