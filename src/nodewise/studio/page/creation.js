// The form for a new session: what to show, what is known, how many labels to spend.

import { h, icon, show } from "./dom.js";

const STRATEGIES = [
  ["", "automatic: the shipped policy, or AGE on very dense or sparse graphs"], ["policy", "policy: learned on other graphs"], ["age", "age: uncertain, central and typical"],
  ["uncertainty", "uncertainty: where the classifier is least sure"], ["centrality", "centrality: the best connected"], ["coreset", "coreset: far from what is known"],
  ["kcenter", "kcenter: spread evenly"], ["anrmab", "anrmab: a bandit over three of these"], ["random", "random: by chance"],
];

/**
 * @param {File} file the table.
 * @param {object} table the answer of /preview.
 * @param {string[]} taken names of sessions that there are.
 * @param {(form: FormData, name: string) => void} create called with what to send.
 */
export function creationForm(file, table, taken, create) {
  const names = table.columns.map((column) => column.name);
  let edges = null;
  const fields = {
    name: input("name", "text", freeName(file.name, taken), { maxlength: "80", required: true }),
    text: select("text", [["", "none: compare the columns of numbers"], ...names.map((name) => [name, name])], table.guess.text ?? ""),
    label: select("label", [["", "none: nothing is labelled yet"], ...names.map((name) => [name, name])], table.guess.label ?? ""),
    id: select("id", [["", "none: rows are numbered"], ...names.map((name) => [name, name])], table.guess.id ?? ""),
    classes: input("classes", "text", "", { placeholder: "for example: spam, fine" }),
    budget: input("budget", "number", Math.max(1, Math.min(50, Math.floor(table.rows / 4))), { min: "1", max: table.rows, required: true }),
    audit: input("audit", "number", table.rows >= 200 ? 20 : 0, { min: "0", max: table.rows, required: true }),
    strategy: select("strategy", STRATEGIES, ""),
    knn: input("knn", "number", Math.max(1, Math.min(10, table.rows - 1)), { min: "1", max: "200" }),
    metric: select("metric", [["cosine", "cosine: direction, best for texts"], ["euclidean", "euclidean: distance"]], "cosine"),
    redundancy: input("redundancy", "number", 1, { min: "1", max: "50" }),
    seed: input("seed", "number", 0, { min: "0" }),
  };
  const near = h("div", { class: "pair" }, row(fields.knn, "Neighbours of each row", "Every row is joined to this many that are most alike."), row(fields.metric, "Alike by", ""));
  const zone = dropZone({ id: "edges-file", title: "Edges CSV (optional)", hint: "Two columns that name the rows of each edge. Without it, similar rows are joined.", small: true,
    chosen: (given) => { edges = given; near.hidden = true; } });
  const form = h("form", { class: "creation", novalidate: false },
    h("div", { class: "pair" }, row(fields.text, "Text to show and compare", "Rows with similar texts become neighbours."), row(fields.label, "Column of labels", "Rows that have one count as labelled already.")),
    row(fields.classes, "Classes", "Separated by commas. More can be added at any time, so this may stay empty."),
    h("div", { class: "pair" }, row(fields.budget, "Budget: labels to spend", "How many rows you are willing to label; it can be raised later."),
      row(fields.audit, "Audit: rows drawn at random, on top", "Their labels train nothing, so they tell how accurate the predictions are, without bias. 0 for none.")),
    row(fields.name, "Name of the session", "Its file gets this name."),
    h("details", { class: "more" }, h("summary", {}, "More"), h("div", { class: "more-body" }, row(fields.strategy, "Which rows are asked", ""), zone, near,
      h("div", { class: "pair" }, row(fields.id, "Column that names a row", "Needed if edges are given."), row(fields.redundancy, "Labels for each node", "Above 1: each row is asked of several people, and disagreements are shown.")),
      row(fields.seed, "Seed", "The same seed asks the same nodes for the same answers."))),
    h("div", { class: "buttons" }, h("button", { class: "primary big", id: "create" }, "Make the session")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    create(packed(file, edges, fields), fields.name.value.trim());
  });
  return form;
}

function packed(file, edges, fields) {
  const form = new FormData();
  form.append("nodes", file);
  if (edges) form.append("edges", edges);
  for (const [name, field] of Object.entries(fields)) {
    const value = field.value.trim();
    if (value === "" || name === "classes" || (edges && (name === "knn" || name === "metric"))) continue;
    form.append(name, value);
  }
  for (const name of new Set(fields.classes.value.split(",").map((each) => each.trim()).filter(Boolean))) form.append("classes", name);
  return form;
}

function input(id, type, value, more) {
  return h("input", { id, name: id, type, value, autocomplete: "off", ...(type === "number" ? { inputmode: "numeric", step: "1" } : {}), ...more });
}

function select(id, options, chosen) {
  const field = h("select", { id, name: id }, options.map(([value, text]) => h("option", { value }, text)));
  field.value = chosen;
  return field;
}

function row(field, label, hint) {
  if (hint) field.setAttribute("aria-describedby", `${field.id}-hint`);
  return h("div", { class: "field" }, h("label", { for: field.id }, label), field, hint && h("p", { class: "quiet", id: `${field.id}-hint` }, hint));
}

/** A name for the session that is not taken, from the file's. */
function freeName(file, taken) {
  const plain = file.replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{N} _-]+/gu, " ").trim().slice(0, 60) || "session";
  let name = plain;
  for (let number = 2; taken.includes(name); number++) name = `${plain} ${number}`;
  return name;
}

/**
 * A zone to drop a file on, which is also an ordinary file field for mouse, touch and keyboard.
 * @param {{id: string, title: string, hint: string, chosen: (file: File) => void, small?: boolean}} options 
 */
export function dropZone({ id, title, hint, chosen, small = false }) {
  const field = h("input", { type: "file", id, accept: ".csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain", class: "file-field" });
  const words = h("span", { class: "drop-title" }, title);
  const zone = h("label", { class: small ? "drop small" : "drop", for: id }, icon("file"), h("span", {}, words, h("span", { class: "quiet" }, hint)), field);
  const take = (file) => {
    if (!file) return;
    show(words, small ? file.name : title);
    chosen(file);
  };
  field.addEventListener("change", () => take(field.files[0]));
  for (const type of ["dragenter", "dragover"]) zone.addEventListener(type, (event) => { event.preventDefault(); zone.classList.add("over"); });
  for (const type of ["dragleave", "drop"]) zone.addEventListener(type, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => { event.preventDefault(); take(event.dataTransfer.files[0]); });
  return zone;
}
