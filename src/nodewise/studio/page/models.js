// What models say beside people: brought from a file or a column of the rows, how right each is, and taken back. What
// would come is shown before anything is done, and all of it can be undone.

import { get, post, upload } from "./api.js";
import { dialog } from "./dialogs.js";
import { announce, count, h, icon, percent, sentence, short, show } from "./dom.js";
import { classMark } from "./marks.js";
import { act, done, parts, trouble } from "./rows.js";

const TABLES = ".csv,.tsv,.xlsx,.xlsm,.jsonl,.ndjson,.json,.parquet,text/csv,text/plain";
const COLUMNS = [
  ["node", "Which row", "rows in their order"],
  ["label", "What it says", null],
  ["confidence", "How sure it is, 0 to 1", "it does not say"],
];

/** @typedef {import("./rows.js").Acts & {openTable: (place: Record<string, string>) => void}} Acts */

/** The button that opens the panel. */
export function modelsButton(open) {
  return h(
    "button",
    {
      type: "button",
      class: "tool",
      id: "models-button",
      title: "Models: what a language model, rules or an older classifier say",
      on: { click: open },
    },
    icon("model"),
    h("span", { class: "tool-name" }, "Models"),
  );
}

/**
 * Open the panel over the page; for the owner and for reviewers.
 *
 * @param {{me: string, status: any, isOwner: boolean}} seen
 * @param {Acts} acts
 */
export function openModels(seen, acts) {
  if (document.querySelector("dialog[open]") || !seen.status) return;
  const list = h("div", { class: "models" });
  const bring = h("div", { class: "row-files" });
  const box = dialog(
    "What models say",
    (close) => {
      const draw = async () => {
        try {
          const found = await get("/suggestions?limit=0");
          show(list, listed(found.models, draw, close, seen, acts));
          if (seen.isOwner && bring.childElementCount === 0)
            show(bring, bringing(found.columns, draw, seen.me, acts), live());
        } catch (error) {
          trouble(list, error);
        }
      };
      draw();
      return h(
        "div",
        { class: "dialog-body row-files" },
        h(
          "p",
          { class: "quiet" },
          "What a language model, rules or an older classifier say of the rows. It is no label and no vote: " +
            "the learner begins with it, and people's labels decide how far it counts.",
        ),
        list,
        bring,
      );
    },
    "wide",
  );
  box.id = "models-dialog";
}

function listed(models, again, close, seen, acts) {
  if (models.length === 0) return h("p", {}, "No model has said anything yet.");
  const differ = () => {
    close();
    acts.openTable({ filter: "model", sort: "sure", down: "1" });
  };
  return [
    models.map((model) => described(model, again, seen, acts)),
    h(
      "button",
      { type: "button", on: { click: differ } },
      "Open the table at the rows where it and the learner differ",
    ),
  ];
}

const share = (found) =>
  `${percent(found.mean)} right (${percent(found.low)} to ${percent(found.high)}, of ${count(found.nodes, "row")})`;

function described(model, again, { me, isOwner }, acts) {
  const place = h("div", { class: "file-preview", role: "status" });
  const classes = Object.entries(model.classes);
  return h(
    "section",
    { class: "model", "aria-label": short(model.name, 60) },
    h("h3", { dir: "auto" }, short(model.name, 60)),
    h(
      "p",
      {},
      `It says something of ${count(model.answers, "row")}.`,
      model.unnamed > 0 &&
        ` ${count(model.unnamed, "answer named no class and was", "answers named no class and were")} left out.`,
    ),
    h(
      "dl",
      { class: "attributes" },
      h("dt", {}, "By the audit"),
      h("dd", {}, model.by_audit ? `${share(model.by_audit)}: a fair sample` : "no row of the audit is labelled yet"),
      h("dt", {}, "By other labels"),
      h("dd", {}, model.by_labels ? `${share(model.by_labels)}: these rows were chosen, so it may differ` : "none yet"),
    ),
    classes.length > 0 &&
      h(
        "details",
        {},
        h("summary", {}, "Class by class"),
        h(
          "dl",
          { class: "attributes" },
          classes.map(([name, found]) => [
            h("dt", { dir: "auto" }, classMark(name), " ", short(name, 60)),
            h("dd", {}, share(found)),
          ]),
        ),
      ),
    isOwner &&
      h(
        "button",
        { type: "button", class: "small", on: { click: () => offerWithdrawal(model, place, again, me, acts) } },
        "Withdraw …",
      ),
    place,
  );
}

/** Say what withdrawing a model does, and do it when asked again. */
function offerWithdrawal(model, place, again, me, acts) {
  const name = short(model.name, 60);
  const go = async () => {
    const { events } = await post("/suggestions/withdraw", { annotator: me, name: model.name });
    const back = async () => {
      for (const event of events) if (!(await acts.change("/undo", { event }, `${name} counts again`))) return;
      await again();
    };
    announce(`${name} was withdrawn`);
    show(
      place,
      h("p", {}, `${name} was withdrawn: what it said counts no longer.`),
      h("button", { type: "button", on: { click: back } }, "Undo"),
    );
    await acts.refresh();
  };
  show(
    place,
    h("p", {}, `${count(model.answers, "answer")} of ${name} would count no longer. Labels of people stay.`),
    act(`Withdraw ${name}`, place, go),
    h("button", { type: "button", on: { click: () => show(place) } }, "Keep it"),
  );
}

function bringing(columns, again, me, acts) {
  const name = h("input", { id: "model-name", maxlength: "200", autocomplete: "off", spellcheck: "false" });
  const file = h("input", { type: "file", id: "model-file", accept: TABLES });
  const place = h("div", { class: "file-preview", role: "status" });
  const column = choice("model-column", [["", "choose a column"], ...columns.map((each) => [each, each])], "");
  const called = (otherwise) => {
    if (!name.value.trim()) name.value = short(otherwise, 60);
    return name.value.trim();
  };
  let source = null;
  const look = () => source && preview(place, source, called, again, me, acts);
  file.addEventListener("change", () => {
    if (!file.files[0]) return;
    column.value = "";
    source = { file: file.files[0], columns: {} };
    look();
  });
  column.addEventListener("change", () => {
    if (!column.value) return;
    file.value = "";
    source = { file: null, columns: { label: column.value }, offered: columns };
    look();
  });
  name.addEventListener("change", look);
  return h(
    "section",
    { "aria-labelledby": "bring-title" },
    h("h3", { id: "bring-title" }, "Bring suggestions"),
    h("label", { for: "model-name" }, "What the model is called"),
    name,
    h(
      "label",
      { class: "quiet", for: "model-file" },
      "A table with a column that names the row (by its name, or its number as in exports), one with what the model " +
        "says, and perhaps one with how sure it is",
    ),
    file,
    columns.length > 0 && [h("label", { class: "quiet", for: "model-column" }, "Or a column of the rows"), column],
    place,
  );
}

function choice(id, options, value) {
  const field = h(
    "select",
    { id },
    options.map(([key, words]) => h("option", { value: key }, words)),
  );
  field.value = value;
  return field;
}

const packed = (source, values) => parts("rows", source.file, { ...source.columns, ...values });

/** Show what a file or a column would bring; columns can be chosen, and then it is looked at again. */
async function preview(place, source, called, again, me, acts) {
  const name = called(source.file ? source.file.name.replace(/\.[^.]*$/, "") : source.columns.label);
  show(place, h("span", { class: "spinner", "aria-hidden": "true" }), `What ${short(name, 40)} says is read …`);
  try {
    const seen = await upload("/suggestions/preview", packed(source, { name }));
    const go = async () => {
      const answer = await upload("/suggestions/bring", packed(source, { name, annotator: me }));
      await done(
        place,
        `${count(answer.answers, "answer")} of ${short(name, 60)} ${answer.answers === 1 ? "was" : "were"} taken`,
        answer.event,
        acts,
      );
      await again();
    };
    const pick = (what, value) => {
      source.columns[what] = value;
      preview(place, source, called, again, me, acts);
    };
    show(
      place,
      choices(seen, source, pick),
      plan(seen, name),
      !seen.refused && act(`Bring ${count(seen.answers, "answer")}`, place, go),
    );
  } catch (error) {
    trouble(place, error);
  }
}

/** Which column holds what. */
function choices(seen, source, pick) {
  const offered = source.file ? COLUMNS : COLUMNS.slice(2);
  const names = source.file ? seen.columns : source.offered.filter((name) => name !== source.columns.label);
  return h(
    "div",
    { class: "pair" },
    offered.map(([what, title, none]) => {
      const options = [...(none ? [["", none]] : []), ...names.map((name) => [name, short(name, 60)])];
      const field = choice(`model-${what}`, options, source.columns[what] ?? seen.chosen[what] ?? "");
      field.addEventListener("change", () => pick(what, field.value));
      return h("div", { class: "field" }, h("label", { for: `model-${what}` }, title), field);
    }),
  );
}

/** What would come, in words. */
function plan(seen, name) {
  if (seen.refused) return h("p", { class: "bad" }, sentence(seen.refused));
  const several = (number) => (number === 1 ? "names" : "name");
  return [
    h("p", {}, `${count(seen.answers, "answer")} on ${count(seen.rows, "row")}:`),
    h(
      "ul",
      {},
      Object.entries(seen.classes).map(([label, number]) =>
        h("li", { dir: "auto" }, `${short(label, 60)}: ${count(number, "row")}`),
      ),
    ),
    seen.fresh.length > 0 &&
      h("p", { class: "notice" }, `New classes: ${seen.fresh.map((each) => short(each, 60)).join(", ")}.`),
    seen.unnamed > 0 &&
      h(
        "p",
        { class: "notice" },
        `${count(seen.unnamed, "answer")} ${several(seen.unnamed)} no class of this job and would be left out: ` +
          `${seen.examples.map((each) => `“${short(each, 40)}”`).join(", ")}.`,
      ),
    seen.replaced > 0 &&
      h("p", { class: "notice" }, `${count(seen.replaced, "row")} of which ${short(name, 40)} said something else.`),
  ];
}

/** How a language model is asked: not from here. */
function live() {
  return h(
    "section",
    { "aria-labelledby": "live-title" },
    h("h3", { id: "live-title" }, "Ask a language model"),
    h(
      "p",
      { class: "quiet" },
      "This page sends no row to anybody. On the command line you see what would be sent before you send it: ",
      h("code", {}, "nodewise session suggest FILE --from URL --as NAME --show"),
      ".",
    ),
  );
}
