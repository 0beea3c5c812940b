// The page that makes a session from a CSV, or goes on with one that is there.

import { ApiError, cancellable, get, pageOf, upload } from "./api.js";
import { backupOpener } from "./backup.js";
import { creationForm } from "./creation.js";
import { announce, byId, capital, count, h, icon, sentence, show } from "./dom.js";
import { dropZone } from "./drop_zone.js";
import { jobList } from "./jobs.js";
import { listen } from "./live.js";
import { themeButton } from "./tools.js";

const view = byId("start");
const parts = {
  chosen: h("div", { class: "chosen" }),
  form: h("div"),
  progress: h("div", { class: "making", role: "status", hidden: true }),
  trouble: h("p", { class: "trouble bad", role: "alert", hidden: true }),
};
let studio = null;
let making = false;
let current = ""; // the name of the session that is being made
let work = null; // its ticket

byId("tools").append(themeButton());

async function start() {
  studio = await get("/studio");
  show(
    view,
    h(
      "div",
      { class: "hero" },
      h("h1", {}, "Label your own data"),
      h(
        "p",
        { class: "lead" },
        "A table of texts is all it takes. nodewise finds out which rows are alike, " +
          "asks you about the few that teach the most, and predicts the rest.",
      ),
    ),
    jobList(studio.role === "owner", trouble),
    studio.can_create
      ? [maker(), backupOpener(studio.sessions)]
      : h(
          "p",
          { class: "notice" },
          studio.role === "owner"
            ? "The studio's folder cannot be written to, so no session can be made here."
            : "Only the owner of this studio makes sessions.",
        ),
  );
}

function maker() {
  const zone = dropZone({
    id: "nodes-file",
    title: "Choose a CSV or Excel file, or drop it here",
    hint:
      "One row for each thing to label. JSON lines, parquet and files of graphs (GraphML, lists of edges) work too; " +
      "so do several tables with the same columns, chosen together, and the folder of a graph, or its zip.",
    several: true,
    chosen: (file, more) => preview(file, more),
  });
  return h(
    "section",
    { class: "box", "aria-labelledby": "maker" },
    h("h2", { id: "maker" }, "Start a new one"),
    zone,
    parts.chosen,
    parts.trouble,
    parts.form,
    parts.progress,
  );
}

function trouble(text) {
  if (!parts.trouble.isConnected) view.append(parts.trouble);
  parts.trouble.hidden = text === "";
  parts.trouble.textContent = sentence(text);
}

/** Let the studio read the file, and show what is in it. */
async function preview(file, more = [], reading = {}) {
  if (making) return;
  trouble("");
  show(parts.form);
  const limit = studio.limits.upload_bytes;
  const size = [file, ...more].reduce((sum, each) => sum + each.size, 0);
  const shown = more.length > 0 ? count(more.length + 1, "file") : file.name;
  if (size > limit) {
    trouble(
      `${more.length > 0 ? "The files have" : "The file has"} ${megabytes(size)}; ` +
        `the studio takes up to ${megabytes(limit)}. ` +
        "Larger ones can be made into a session on the command line: nodewise session new",
    );
    return;
  }
  show(
    parts.chosen,
    h("p", { class: "quiet" }, h("span", { class: "spinner", "aria-hidden": "true" }), `Reading ${shown} …`),
  );
  const form = new FormData();
  form.append("nodes", file);
  for (const each of more) form.append("more", each);
  for (const [name, value] of Object.entries(reading)) if (value !== undefined) form.append(name, value);
  try {
    const [table, { settings }] = await Promise.all([upload("/preview", form), get("/session/settings")]);
    show(
      parts.chosen,
      h(
        "p",
        { class: "file-name" },
        icon("file"),
        h("b", { dir: "auto" }, shown),
        h("span", { class: "quiet" }, `${count(table.rows, "row")}, ${count(table.columns.length, "column")}`),
      ),
      table.form === "table" && howRead(file, more, table, reading),
      table.types.length > 1 && whichType(file, more, table, reading),
      columns(table),
    );
    show(parts.form, creationForm(file, table, settings, studio.sessions, create, reading, more));
    announce(`${shown}: ${count(table.rows, "row")}, ${count(table.columns.length, "column")}`);
  } catch (error) {
    // where it was read wrongly it can be said how to read it
    const asText = more.length === 0 && /\.(csv|tsv|txt)$/i.test(file.name) && error.status === 400;
    show(
      parts.chosen,
      asText &&
        howRead(file, more, { encoding: reading.encoding ?? "utf-8", header: reading.header !== "false" }, reading),
    );
    trouble(error.message);
  }
}

const ENCODINGS = [
  "utf-8",
  "cp1252",
  "latin-1",
  "iso-8859-2",
  "utf-16",
  "koi8-r",
  "cp1251",
  "shift_jis",
  "gb18030",
  "big5",
  "euc-kr",
];

/** How the table was read, to be corrected: its encoding, and whether its first line names the columns. */
function howRead(file, more, table, reading) {
  const encoding = h(
    "select",
    { id: "encoding", "aria-label": "Encoding" },
    [...new Set([table.encoding, ...ENCODINGS])].map((name) => h("option", { value: name }, name)),
  );
  encoding.value = table.encoding;
  encoding.addEventListener("change", () => preview(file, more, { ...reading, encoding: encoding.value }));
  const header = h("input", { type: "checkbox", id: "header" });
  header.checked = table.header;
  header.addEventListener("change", () => preview(file, more, { ...reading, header: String(header.checked) }));
  return h(
    "div",
    { class: "how-read" },
    h("label", { class: "choice", for: "header" }, header, "The first line names the columns"),
    !["parquet", "excel"].includes(table.encoding) &&
      h("label", { class: "choice", for: "encoding" }, "Encoding", encoding),
    !table.header && h("span", { class: "quiet" }, "It looks like a row, so the columns are numbered."),
  );
}

/** Which of several node types is to be labelled. */
function whichType(file, more, table, reading) {
  const field = h(
    "select",
    { id: "labelled" },
    table.types.map((name) => h("option", { value: name }, name)),
  );
  field.value = table.labelled;
  field.addEventListener("change", () => preview(file, more, { ...reading, labelled: field.value }));
  return h("div", { class: "how-read" }, h("label", { class: "choice", for: "labelled" }, "To be labelled", field));
}

const megabytes = (bytes) => `${Math.max(1, Math.round(bytes / 2 ** 20)).toLocaleString("en")} MB`;

/** What is in the columns, with what they were taken for. */
function columns({ columns: table, guess }) {
  const role = (name) =>
    Object.entries(guess)
      .filter(([, column]) => column === name)
      .map(([what]) => what)[0];
  return h(
    "div",
    { class: "columns-table", tabindex: "0", role: "region", "aria-label": "Columns" },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Column", "Looks like", "Examples"].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        {},
        table.map((column) =>
          h(
            "tr",
            {},
            h("th", { scope: "row", dir: "auto" }, column.name),
            h(
              "td",
              {},
              h("span", { class: role(column.name) ? "pill asked" : "pill" }, role(column.name) ?? column.kind),
            ),
            h(
              "td",
              { class: "examples" },
              examples(column.examples).map((text) => h("span", { dir: "auto" }, text)),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Short ones share a line. */
const examples = (texts) => (texts.every((text) => text.length < 30) ? [texts.join("  ·  ")] : texts.slice(0, 2));

/** Send everything; the studio tells how far it is while it works. */
async function create(form, name) {
  if (making) return;
  making = true;
  current = name;
  work = cancellable();
  form.append("ticket", work.ticket);
  trouble("");
  parts.form.inert = true;
  say("Sending the file", 0, 1);
  parts.progress.hidden = false;
  parts.progress.scrollIntoView({ block: "nearest" });
  try {
    await upload("/session", form, (share) =>
      say(
        share < 1 ? "Sending the file" : "Finding out which rows are alike",
        share < 1 ? share : 0,
        share < 1 ? 1 : 0,
      ),
    );
    say("Ready", 1, 1);
    location.assign(pageOf(name));
  } catch (error) {
    making = false;
    current = "";
    parts.form.inert = false;
    parts.progress.hidden = true;
    trouble(
      error instanceof ApiError && error.status === 0
        ? `${error.message}; if “${name}” is in the list after a reload, it was made`
        : error.message,
    );
  }
}

/** A line and a bar; a total of 0 means that nobody knows how long it takes. */
function say(what, done, total) {
  if (work?.cancelled()) [what, done, total] = ["Cancelling", 0, 0];
  fill.style.setProperty("width", `${total ? (100 * done) / total : 100}%`);
  track.className = total ? "track" : "track unsure";
  show(
    line,
    h("span", { class: "spinner", "aria-hidden": "true" }),
    what,
    total > 1 ? `: ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : " …",
  );
  show(
    noted,
    notes.slice(-4).map((text) => h("li", {}, text)),
  );
  // a button that is being pressed must not be taken away
  if (!line.isConnected) show(parts.progress, line, track, h("div", { class: "buttons" }, stop), noted);
}

/** Have the making of the session end at its next step, also where the file is still on its way. */
function cancel() {
  work?.cancel();
  say("", 0, 0);
}

const notes = [];
const fill = h("span", { class: "fill" });
const track = h("span", { class: "track" }, fill);
const line = h("p");
const noted = h("ul", { class: "notes quiet" });
const stop = h("button", { type: "button", id: "cancel", on: { click: cancel } }, "Cancel");
function heard(message) {
  if (!making || message.session !== current) return;
  if (message.type === "progress") say(capital(message.what), message.done, message.total ?? 0);
  else if (message.type === "note") {
    notes.push(message.text);
    say("Making the session", 0, 0);
  }
}

start()
  .then(() => listen(heard, () => {}))
  .catch((error) =>
    show(
      view,
      h(
        "div",
        { class: "hero" },
        h("h1", {}, "The studio does not answer"),
        h("p", { class: "lead" }, `${error.message}.`),
      ),
    ),
  );
