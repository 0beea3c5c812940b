// Rows that come later, become others or go, rows to be predicted, and labels of another job: what a file would bring
// is shown before anything is done, and all of it can be undone in the history.

import { download, SESSION, upload } from "./api.js";
import { dialog } from "./dialogs.js";
import { announce, called, count, h, icon, sentence, short, show } from "./dom.js";

const TABLES = ".csv,.tsv,.txt,.npy,.xlsx,.xlsm,.jsonl,.ndjson,.json,.parquet,text/csv,text/plain";
const SHOWN = 5;

/**
 * @typedef {{change: (path: string, values: object, words: string) => Promise<boolean>, refresh: () => void}} Acts
 */

/** The button that opens the panel. */
export function rowsButton(open) {
  return h(
    "button",
    {
      type: "button",
      class: "tool",
      id: "rows-button",
      title: "Rows: add, change, take out, predict; join another job",
      on: { click: open },
    },
    icon("plus"),
    h("span", { class: "tool-name" }, "Rows"),
  );
}

/**
 * Open the panel over the page; for the owner.
 *
 * @param {{me: string, status: any, saved: any}} seen
 * @param {Acts & {openTable: (place: Record<string, string>) => void}} acts
 */
export function openRows(seen, acts) {
  if (document.querySelector("dialog[open]") || !seen.status) return;
  const box = dialog(
    "Rows of this job",
    (close) =>
      h(
        "div",
        { class: "dialog-body row-files" },
        adding(seen.me, acts),
        changing(seen, acts),
        predicting(),
        removing(seen, acts),
        joining(close, seen.me, acts),
      ),
    "wide",
  );
  box.id = "rows-dialog";
}

/** A form's parts for a call about this page's session. */
export function parts(name, file, values = {}) {
  const form = new FormData();
  if (file) form.append(name, file);
  if (SESSION !== null) form.append("session", SESSION);
  for (const [key, value] of Object.entries(values)) if (value) form.append(key, value);
  return form;
}

/** A section with a field for a file; `chosen` draws into its place what is known of the file. */
function section(id, title, hint, accept, chosen) {
  const field = h("input", { type: "file", id, accept });
  const place = h("div", { class: "file-preview", role: "status" });
  field.addEventListener("change", async () => {
    const file = field.files[0];
    if (!file) return;
    show(place, h("span", { class: "spinner", "aria-hidden": "true" }), `${short(file.name, 60)} is read …`);
    try {
      await chosen(file, place);
    } catch (error) {
      trouble(place, error);
    }
  });
  return h(
    "section",
    { "aria-labelledby": `${id}-title` },
    h("h3", { id: `${id}-title` }, title),
    h("label", { class: "quiet", for: id }, hint),
    field,
    place,
  );
}

export const trouble = (place, error) => show(place, h("p", { class: "bad", role: "alert" }, sentence(error.message)));

/** A button that does something once; what came of it takes its place. */
export function act(words, place, action) {
  const button = h("button", { type: "button", class: "primary" }, words);
  button.addEventListener("click", async () => {
    button.disabled = true;
    button.setAttribute("aria-busy", "true");
    try {
      await action();
    } catch (error) {
      trouble(place, error);
    }
  });
  return button;
}

/** Say what was done, with a button that takes it back. */
export async function done(place, words, event, /** @type {Acts} */ acts) {
  announce(words);
  show(
    place,
    h("p", {}, sentence(words)),
    h("button", { type: "button", on: { click: () => takeBack(place, words, event, acts.change) } }, "Undo"),
  );
  await acts.refresh();
}

async function takeBack(place, words, event, change) {
  if (await change("/undo", { event }, `undone: ${words}`)) show(place, h("p", {}, sentence(`undone: ${words}`)));
}

const USES = {
  compared: "compared with the other rows",
  name: "the row's name",
  shown: "shown",
  "not used": "not used",
};

/** What a file of rows holds. */
function held(file, seen) {
  return [
    h("p", {}, h("b", { dir: "auto" }, short(file.name, 60)), `: ${count(seen.rows, "row")}`),
    seen.columns.length > 0 &&
      h(
        "ul",
        { class: "quiet" },
        seen.columns.map(({ name, use }) => h("li", {}, h("b", { dir: "auto" }, short(name, 60)), `: ${USES[use]}`)),
      ),
    seen.lacking.length > 0 && h("p", { class: "bad" }, `It lacks the column ${seen.lacking.join(", ")}.`),
    seen.refused && h("p", { class: "bad" }, sentence(seen.refused)),
    seen.already > 0 &&
      h(
        "p",
        { class: "notice" },
        `${count(seen.already, "row")} of them ${seen.already === 1 ? "has" : "have"} a text
      that is in the job already.`,
      ),
    seen.examples.length > 0 &&
      h(
        "ul",
        { class: "examples" },
        seen.examples.map((text) => h("li", { dir: "auto" }, short(text, 120))),
      ),
  ];
}

function adding(me, acts) {
  const add = async (file, place) => {
    const seen = await upload("/rows/preview", parts("rows", file));
    const go = async () => {
      const answer = await upload("/rows", parts("rows", file, { annotator: me }));
      const drawn = answer.audit ? `, ${answer.audit} of them for the audit` : "";
      await done(place, `${count(answer.count, "row was", "rows were")} added${drawn}`, answer.event, acts);
    };
    show(place, held(file, seen), !seen.refused && act(`Add ${count(seen.rows, "row")}`, place, go));
  };
  return section(
    "add-rows",
    "Add rows",
    "A table with the columns that this job was made from, or a text a line. Labels and questions stay.",
    TABLES,
    add,
  );
}

function changing({ me, status }, acts) {
  const change = async (file, place) => {
    const seen = await upload("/rows/preview", parts("rows", file, { purpose: "change" }));
    const go = async () => {
      const answer = await upload("/rows/change", parts("rows", file, { annotator: me }));
      await done(place, `${count(answer.count, "row was", "rows were")} changed`, answer.event, acts);
    };
    const again =
      seen.labelled > 0 &&
      h(
        "p",
        { class: "notice" },
        `${seen.labelled} of them ${seen.labelled === 1 ? "has a label" : "have labels"}, which stay:
      look at them again (the table finds them).`,
      );
    show(place, held(file, seen), again, !seen.refused && act(`Change ${count(seen.rows, "row")}`, place, go));
  };
  const which = status.named ? "the row's name" : "the row's number, from 0 as in exports,";
  return section(
    "change-rows",
    "Change rows",
    `A table with ${which} in a column “id”, and the columns that change. The former texts stay in the history.`,
    TABLES,
    change,
  );
}

function predicting() {
  const predict = async (file, place) => {
    const seen = await upload("/rows/preview", parts("rows", file, { purpose: "predict" }));
    const go = async () => {
      const name = await download("/rows/predict", undefined, parts("rows", file));
      announce(`${name} is downloaded`);
      show(place, h("p", {}, `${name} is downloaded.`));
    };
    show(place, held(file, seen), !seen.refused && act(`Predict ${count(seen.rows, "row")}`, place, go));
  };
  return section(
    "predict-rows",
    "Predict rows without adding them",
    "The same form. You get a CSV with a class and its probability for each row, from people's labels alone.",
    TABLES,
    predict,
  );
}

function removing(seen, acts) {
  const hint = seen.status.named
    ? "Names of rows, one a line or separated by commas"
    : "Numbers of rows, as the page shows them, separated by commas";
  const field = h("textarea", { id: "remove-rows", rows: "2", maxlength: "20000", spellcheck: "false" });
  const place = h("div", { class: "file-preview", role: "status" });
  const wanted = () =>
    field.value
      .split(seen.status.named ? /[,;\n]/ : /[\s,;]+/)
      .map((text) => text.trim())
      .filter(Boolean)
      .map((text) => (seen.status.named ? text : Number(text) - 1));
  const draw = () => {
    const rows = wanted();
    const wrong = rows.some((row) => typeof row === "number" && !(Number.isInteger(row) && row >= 0));
    const go = async () => {
      const words = `${count(rows.length, "row was", "rows were")} taken out`;
      if (!(await acts.change("/rows/remove", { rows }, words))) {
        draw();
        return;
      }
      field.value = "";
      await done(place, words, seen.saved.event, acts);
    };
    show(
      place,
      wrong && h("p", { class: "bad" }, "Give numbers of rows, from 1."),
      rows.length > 0 && !wrong && act(`Take ${count(rows.length, "row")} out`, place, go),
    );
  };
  field.addEventListener("input", draw);
  return h(
    "section",
    { "aria-labelledby": "remove-rows-title" },
    h("h3", { id: "remove-rows-title" }, "Take rows out"),
    h("label", { class: "quiet", for: "remove-rows" }, `${hint}. They are not asked, learned from or exported.`),
    field,
    place,
  );
}

function joining(close, me, acts) {
  const theirs = h("input", { id: "join-me", maxlength: "200", autocomplete: "off", placeholder: "me" });
  const look = async (file, place) => {
    const values = { me: theirs.value.trim() };
    const seen = await upload("/join/preview", parts("job", file, values));
    const go = async () => {
      const answer = await upload("/join", parts("job", file, { ...values, annotator: me }));
      await done(place, `${count(answer.labels, "label was", "labels were")} taken over`, answer.event, acts);
      const settle = () => {
        close();
        acts.openTable({ filter: "disagreement" });
      };
      if (answer.disagreements)
        place.append(
          h(
            "button",
            { type: "button", class: "primary", on: { click: settle } },
            `Settle ${count(answer.disagreements, "disagreement")}`,
          ),
        );
    };
    const votes = ({ votes: said }) =>
      Object.entries(said)
        .map(([who, label]) => `${short(who, 30)}: ${short(label, 40)}`)
        .join(", ");
    show(
      place,
      seen.refused
        ? h("p", { class: "bad" }, sentence(seen.refused))
        : [
            h("p", {}, `${count(seen.labels, "label")} of ${seen.people.map((who) => short(who, 30)).join(", ")}.`),
            seen.new.length > 0 &&
              h("p", { class: "notice" }, `New here: ${seen.new.map((name) => short(name, 60)).join(", ")}.`),
            h("p", {}, `People would disagree on ${count(seen.conflicts.length, "row")}.`),
            h(
              "ul",
              { class: "examples" },
              seen.conflicts.slice(0, SHOWN).map((each) => h("li", { dir: "auto" }, `${called(each)}: ${votes(each)}`)),
            ),
            act(`Take ${count(seen.labels, "label")} over`, place, go),
          ],
    );
  };
  const found = section(
    "join-job",
    "Join another job of the same rows",
    "Its file (.nodewise). Who labelled what is kept, and where people disagree you settle it.",
    ".nodewise",
    look,
  );
  found.insertBefore(
    h("div", { class: "field" }, h("label", { for: "join-me" }, "Who is called “me” there? (optional)"), theirs),
    found.lastElementChild,
  );
  return found;
}
