// The form for a new session: what to show, what is known, how many labels to spend.

import { h, percent, show } from "./dom.js";
import { dropZone } from "./drop_zone.js";

const SEPARATORS = [
  [";", "semicolon"],
  ["|", "bar"],
  [",", "comma"],
  ["/", "slash"],
  ["+", "plus"],
];

/**
 * @param {File} file the table.
 * @param {object} table the answer of /preview.
 * @param {object[]} settings what a new session may be given: the answer of /session/settings.
 * @param {string[]} taken names of sessions that there are.
 * @param {(form: FormData, name: string) => void} create called with what to send.
 * @param {{encoding?: string, header?: string, labelled?: string}} reading how it is to be read, where that was chosen.
 * @param {File[]} more the other files of a folder.
 */
export function creationForm(file, table, settings, taken, create, reading = {}, more = []) {
  const names = table.columns.map((column) => column.name);
  let edges = null;
  const graphs = table.form === "graph";
  const likely = table.guess.label ? null : (table.columns.find((column) => column.kind === "label")?.name ?? null);
  /** @type {Record<string, any>} */
  const fields = {
    name: input("name", "text", freeName(more.length > 0 ? (table.labelled ?? "graph") : file.name, taken), {
      maxlength: "80",
      required: true,
    }),
    text: manyOf(
      "text",
      table.columns.filter((column) => column.kind !== "number").map((column) => column.name),
      table.guess.text,
    ),
    label: select(
      "label",
      [["", "none: nothing is labelled yet"], ...names.map((name) => [name, name])],
      table.guess.label ?? "",
    ),
    suggestions: select(
      "suggestions",
      [["", "none: no model has said anything"], ...names.map((name) => [name, name])],
      "",
    ),
    confidence: select("confidence", [["", "none: it is sure of all"], ...names.map((name) => [name, name])], ""),
    id: select("id", [["", "none: rows are numbered"], ...names.map((name) => [name, name])], table.guess.id ?? ""),
    labels_as: select(
      "labels_as",
      [
        ["given", "given: these rows count as labelled"],
        ["key", "an answer key: kept out of sight, to measure how many predictions are right"],
      ],
      labelledShare(table, table.guess.label) === 1 ? "key" : "given",
    ),
    separator: select(
      "separator",
      SEPARATORS.map(([mark, name]) => [mark, `${mark}  (${name})`]),
      ";",
    ),
    knn: input("knn", "number", Math.max(1, Math.min(10, table.rows - 1)), { min: "1", max: "200" }),
    metric: select(
      "metric",
      [
        ["cosine", "cosine: best for texts"],
        ["euclidean", "euclidean: best for numbers that were measured alike"],
      ],
      "cosine",
    ),
  };
  const suggested = {
    budget: { value: Math.max(1, Math.min(50, Math.floor(table.rows / 4))), max: table.rows, required: true },
    audit: { value: table.rows >= 200 ? 20 : 0, max: table.rows },
  };
  for (const one of settings) fields[one.name] = settingField(one, suggested[one.name]);
  /** Rows for some of the settings: numbers two by two, everything else alone. */
  const rows = (some) => {
    const [numbers, others] = [some.filter(isNumber), some.filter((one) => !isNumber(one))];
    return [
      others.map((one) => [row(fields[one.name], one.title, hintOf(one)), one.name === "classes" && twice]),
      numbers.length > 0 &&
        h(
          "div",
          { class: "pair" },
          numbers.map((one) => row(fields[one.name], one.title, hintOf(one))),
        ),
    ];
  };
  const near = h(
    "div",
    { class: "pair" },
    row(fields.knn, "Similar rows to join", "Every row is joined to this many that are most like it."),
    row(fields.metric, "Alike by", ""),
  );
  const zone = dropZone({
    id: "edges-file",
    title: "A CSV that says which rows belong together (optional)",
    hint: "Each line names two rows that are joined. Without it, similar rows are joined.",
    small: true,
    chosen: (given) => {
      edges = given;
      near.hidden = true;
    },
  });
  const hint = h("p", { class: "notice", role: "status" });
  const keyRow = h("div", { class: "labels-as" }, hint, row(fields.labels_as, "What are these labels?", ""));
  const drawKey = () => {
    const share = labelledShare(table, fields.label.value);
    keyRow.hidden = share === 0;
    if (share === 1) fields.labels_as.value = "key";
    show(
      hint,
      share === 1
        ? "Every row of this table is labelled already, so there is nothing left to ask " +
            "unless they serve as an answer key."
        : `About ${percent(share)} of the rows are labelled already.`,
    );
  };
  fields.label.addEventListener("change", drawKey);
  drawKey();
  const splitNotice = h("p", { class: "notice", role: "status", hidden: true });
  const separatorRow = row(
    fields.separator,
    "What stands between the classes of a row",
    "In the column of labels. Alone it means none of the classes; an empty cell means that the row has no label yet.",
  );
  const markOf = () => table.columns.find((column) => column.name === fields.label.value)?.separator;
  const drawSets = () => {
    const mark = markOf() ?? null;
    const many = fields.several.value === "true";
    separatorRow.hidden = !many || !fields.label.value || graphs;
    splitNotice.hidden = many || mark === null;
    show(
      splitNotice,
      mark && `Cells of “${fields.label.value}” seem to name several classes with “${mark}” between them. `,
      h(
        "button",
        {
          type: "button",
          class: "small",
          on: {
            click: () => {
              fields.several.value = "true";
              drawSets();
            },
          },
        },
        "Split them",
      ),
    );
  };
  fields.label.addEventListener("change", () => {
    fields.separator.value = markOf() ?? ";";
    drawSets();
  });
  fields.several.addEventListener("change", drawSets);
  fields.separator.value = markOf() ?? ";";
  drawSets();
  const twice = h("p", { class: "notice", role: "status", hidden: true });
  fields.classes.addEventListener("input", () => {
    const pair = lookalikes(
      fields.classes.value
        .split(/[,;\n]/)
        .map((name) => name.trim())
        .filter(Boolean),
    );
    twice.hidden = pair === null;
    show(twice, pair && `“${pair[1]}” looks like “${pair[0]}” misspelt; leave it if both are meant.`);
  });
  const form = h(
    "form",
    { class: "creation", novalidate: false },
    h(
      "div",
      { class: "pair" },
      row(
        fields.text,
        "Text to show and compare",
        graphs
          ? "The graph is taken as it is."
          : "Rows with similar texts become neighbours. Several columns are joined; " +
              "without one, pictures or numbers are compared.",
      ),
      row(
        fields.label,
        "Column of labels",
        likely
          ? `If some rows, or all, are labelled already; “${likely}” looks like it.`
          : "If some rows, or all, are labelled already.",
      ),
    ),
    keyRow,
    splitNotice,
    separatorRow,
    rows(settings.filter((one) => one.front)),
    row(fields.name, "Name of the session", "Its file gets this name."),
    h(
      "details",
      { class: "more" },
      h("summary", {}, "More"),
      h(
        "div",
        { class: "more-body" },
        zone,
        near,
        row(fields.id, "Column that names a row", "Needed if you say which rows belong together."),
        h(
          "div",
          { class: "pair" },
          row(
            fields.suggestions,
            "Column of a model's answers",
            "What a language model or rules say of each row: no labels, but what predictions begin with.",
          ),
          row(fields.confidence, "Column of its confidence", "Numbers from 0 to 1."),
        ),
        rows(settings.filter((one) => !one.front)),
      ),
    ),
    h("div", { class: "buttons" }, h("button", { class: "primary big", id: "create" }, "Make the session")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    create(
      packed(file, more, edges, fields, { labelled: table.labelled ?? undefined, ...reading }),
      fields.name.value.trim(),
    );
  });
  return form;
}

function packed(file, more, edges, fields, reading) {
  const form = new FormData();
  form.append("nodes", file);
  for (const each of more) form.append("more", each);
  if (edges) form.append("edges", edges);
  for (const [name, value] of Object.entries(reading)) if (value !== undefined) form.append(name, value);
  for (const box of fields.text.querySelectorAll("input:checked")) form.append("text", box.value);
  for (const [name, field] of Object.entries(fields)) {
    let value = name === "text" ? "" : field.value.trim();
    if (value !== "" && field.dataset.factor) value = String(Number(value) * Number(field.dataset.factor));
    if (
      value === "" ||
      (edges && (name === "knn" || name === "metric")) ||
      (name === "labels_as" && !fields.label.value) ||
      (name === "confidence" && !fields.suggestions.value) ||
      (name === "separator" && (!fields.label.value || fields.several.value !== "true"))
    )
      continue;
    form.append(name, value);
  }
  return form;
}

const isNumber = (one) => one.kind === "count" || one.kind === "duration";

const hintOf = (one) =>
  one.kind === "names" ? `${one.help} Separated by commas, semicolons or line breaks.` : one.help;

/**
 * What a setting is given in.
 * @param {object} one the setting, as the studio describes it.
 * @param {object} [suggested] what suits this table: a value, the most that it can be.
 */
function settingField(one, suggested = {}) {
  if (one.kind === "names")
    return h("textarea", {
      id: one.name,
      name: one.name,
      rows: "2",
      placeholder: "for example: spam, fine",
      autocomplete: "off",
    });
  const open = ["", `automatic: ${one.unset}`];
  if (one.kind === "flag")
    return select(
      one.name,
      [...(one.default === null ? [open] : []), ["true", "yes"], ["false", "no"]],
      one.default === null ? "" : String(one.default),
    );
  const choices = Object.entries(one.choices);
  if (choices.length > 0)
    return select(
      one.name,
      [
        ...(one.default === null ? [open] : []),
        ...choices.map(([name, words]) => [name, words ? `${name}: ${words}` : name]),
      ],
      one.default ?? "",
    );
  if (!isNumber(one)) return input(one.name, "text", one.default ?? "", {});
  const factor = one.kind === "duration" ? 60 : 1; // people give minutes
  const value = suggested.value ?? (one.default === null ? "" : one.default / factor);
  const limits = {
    ...(one.kind === "duration" ? { min: "0.1", step: "any" } : one.least !== null && { min: String(one.least) }),
    ...(one.most !== null && { max: String(one.most) }),
  };
  const field = input(one.name, "number", value, { ...limits, required: one.default !== null, ...suggested, value });
  if (factor !== 1) field.dataset.factor = String(factor);
  return field;
}

/** The numbers and single letters in a name, by which people count their classes. */
const counted = (name) => (name.match(/\d+|(?<![\p{L}\p{N}_])\p{L}(?![\p{L}\p{N}_])/gu) ?? []).join();

/** The first two names that differ by a slip of the finger, or null; other numbers are other names. */
function lookalikes(names) {
  for (const [at, name] of names.entries()) {
    const near = names.slice(0, at).find((other) => {
      const [one, two] = [other.toLowerCase(), name.toLowerCase()];
      return one.length > 3 && counted(one) === counted(two) && slips(one, two) <= (one.length > 7 ? 2 : 1);
    });
    if (near !== undefined) return [near, name];
  }
  return null;
}

/** How many letters have to be put in, left out or changed to make one word of another (Levenshtein, 1966). */
function slips(one, two) {
  let row = Array.from({ length: two.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= two.length; j++)
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === two[j - 1] ? 0 : 1));
    row = next;
  }
  return row[two.length];
}

/** What share of the rows have something in a column; 0 without one. */
const labelledShare = (table, name) => table.columns.find((column) => column.name === name)?.filled ?? 0;

/** Boxes to choose several columns with. */
function manyOf(id, names, chosen) {
  return h(
    "div",
    { id, class: "many-of", role: "group", "aria-label": "Columns of text" },
    names.map((name) => {
      const box = h("input", { type: "checkbox", value: name });
      box.checked = name === chosen;
      return h("label", { class: "choice" }, box, h("span", { dir: "auto" }, name));
    }),
    names.length === 0 && h("span", { class: "quiet" }, "There is no column of text."),
  );
}

function input(id, type, value, more) {
  return h("input", {
    id,
    name: id,
    type,
    value,
    autocomplete: "off",
    ...(type === "number" ? { inputmode: "numeric", step: "1" } : {}),
    ...more,
  });
}

function select(id, options, chosen) {
  const field = h(
    "select",
    { id, name: id },
    options.map(([value, text]) => h("option", { value }, text)),
  );
  field.value = chosen;
  return field;
}

function row(field, label, hint) {
  if (hint) field.setAttribute("aria-describedby", `${field.id}-hint`);
  return h(
    "div",
    { class: "field" },
    field.tagName === "DIV" ? h("span", { class: "label" }, label) : h("label", { for: field.id }, label),
    field,
    hint && h("p", { class: "quiet", id: `${field.id}-hint` }, hint),
  );
}

/** A name for the session that is not taken, from the file's. */
function freeName(file, taken) {
  const plain =
    file
      .replace(/\.[^.]*$/, "")
      .replace(/[^\p{L}\p{N} _-]+/gu, " ")
      .trim()
      .slice(0, 60) || "session";
  let name = plain;
  for (let number = 2; taken.includes(name); number++) name = `${plain} ${number}`;
  return name;
}
