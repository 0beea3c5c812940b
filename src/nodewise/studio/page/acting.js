// What is done at once with the rows that were chosen, or with all that a filter finds: what would change is shown
// first, and one undo takes it back.

import { get, post } from "./api.js";
import { dialog } from "./dialogs.js";
import { called, count, h, percent, sentence, settle, short, show } from "./dom.js";
import { labelField } from "./label_field.js";
import { classes, several, wordsOf } from "./labels.js";
import { classMark } from "./marks.js";

const PAUSE = 700; // between two looks at whether the report is made
const LOOKS = 200;

/** What can be done with many rows; the first word of a title, what the button says, who may. */
const ACTIONS = {
  label: { title: "Label rows", does: (rows) => `Label ${rows}`, may: ({ isLabeller }) => isLabeller },
  confirm: { title: "Confirm predictions", does: (rows) => `Confirm ${rows}`, may: ({ isLabeller }) => isLabeller },
  skip: { title: "Skip rows", does: (rows) => `Skip ${rows}`, may: ({ isLabeller }) => isLabeller },
  note: {
    title: "Write a note to rows",
    does: (rows) => `Write it to ${rows}`,
    may: ({ role }) => role !== "onlooker",
  },
  assign: { title: "Give rows to somebody", does: (rows) => `Give ${rows}`, may: ({ isOwner }) => isOwner },
  remove: { title: "Take rows out of the job", does: (rows) => `Take ${rows} out`, may: ({ isOwner }) => isOwner },
};

/** What somebody may do. */
export const possible = (/** @type {{role: string, isLabeller: boolean, isOwner: boolean}} */ seen) =>
  Object.keys(ACTIONS).filter((name) => ACTIONS[name].may(seen));

/**
 * Open an action over the table.
 *
 * @param {{action: string, rows: {nodes: number[]} | {where: Record<string, any>}, label?: string, beside?: string}}
 *   wanted its name; which rows; the class that stands there at first, "" for none; a word on them.
 * @param {{me: string, status: any}} seen
 * @param {{change: (path: string, values: object, words: string) => Promise<boolean>,
 *   acted: (answer: any, words: string) => void}} acts
 * @param {() => void} done called once it is done, or undone.
 */
export function openAction({ action, rows, label, beside }, { me, status }, { change, acted }, done) {
  const area = h("div", { class: "action-preview", role: "status" });
  const go = h("button", { type: "button", class: "primary", disabled: true }, "Do it");
  const wish = { label: label ?? (several() ? "" : (classes()[0] ?? "")), text: "", to: "", count: 20 };
  let planned = null;
  let turn = 0;
  // what is estimated now, to say afterwards what the action did to it; who acts waits for it no longer than a moment
  const teaches = ["label", "confirm"].includes(action);
  const earlier = teaches ? get("/report").catch(() => null) : Promise.resolve(null);
  const moment = () => new Promise((over) => setTimeout(() => over(null), 2 * PAUSE));

  const body = () => ({
    annotator: me,
    action,
    ...rows,
    ...(action === "label" ? { label: wish.label } : {}),
    ...(action === "note" ? { text: wish.text } : {}),
    ...(action === "assign" ? { to: wish.to, count: wish.count } : {}),
  });
  const ready = () =>
    (action !== "label" || wish.label !== "") &&
    (action !== "note" || wish.text.trim() !== "") &&
    (action !== "assign" || wish.to.trim() !== "");
  const look = async () => {
    const mine = ++turn;
    planned = null;
    go.disabled = true;
    if (!ready()) {
      show(
        area,
        h(
          "p",
          { class: "quiet" },
          { label: "Choose a class.", note: "Write the note." }[action] ?? "Say who gets the rows.",
        ),
      );
      return;
    }
    try {
      const found = await post("/table/act", body());
      if (mine !== turn) return;
      planned = found;
      show(area, preview(found));
      go.disabled = found.rows === 0;
      show(go, ACTIONS[action].does(count(found.rows, action === "confirm" ? "prediction" : "row")));
    } catch (error) {
      if (mine === turn) show(area, h("p", { class: "bad", role: "alert" }, sentence(error.message)));
    }
  };
  const act = async () => {
    const agreed = planned;
    if (agreed === null) return;
    go.disabled = true;
    const before = await Promise.race([earlier, moment()]);
    try {
      const answer = await post("/table/act", { ...body(), digest: agreed.digest });
      const words = said(action, answer, wish);
      acted(answer, words);
      done();
      finished(words, answer, before);
    } catch (error) {
      show(area, h("p", { class: "bad", role: "alert" }, sentence(error.message)));
      if (error.status === 409) await look();
    }
  };
  const finished = (words, answer, before) => {
    const effect = h("div", { class: "action-effect", role: "status" });
    const undone = async () => {
      const { event, nodes } = answer.done;
      const saying = `undone: ${words}`;
      const back =
        event === null ? change("/release", { released: wish.to, nodes }, saying) : change("/undo", { event }, saying);
      if (await back) {
        done();
        box.close();
      }
    };
    show(
      content,
      h("p", {}, sentence(words)),
      effect,
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "button", on: { click: undone } }, "Undo"),
        h("button", { type: "button", class: "primary", on: { click: () => box.close() } }, "Close"),
      ),
    );
    /** @type {HTMLElement} */ (content.querySelector(".primary")).focus();
    if (teaches) compare(effect, before, answer.done.event);
  };
  const soon = settle(look, 250, 600);
  const changed = () => {
    turn++; // what is shown is of another wish
    planned = null;
    go.disabled = true;
    soon();
  };
  go.addEventListener("click", act);
  const content = h(
    "div",
    { class: "dialog-body" },
    beside && h("p", { class: "quiet" }, beside),
    fields(action, wish, Object.keys(status.annotators), changed),
    area,
    h("div", { class: "buttons" }, go, h("button", { type: "button", on: { click: () => box.close() } }, "Cancel")),
  );
  const box = dialog(ACTIONS[action].title, () => content, "wide");
  box.classList.add("action-dialog");
  show(area, h("p", { class: "quiet" }, "One moment …"));
  look();
}

/** What an action needs to be told; `people`: who can be given rows by a press. */
function fields(action, wish, people, changed) {
  const watch = (field, take) => {
    const hear = () => {
      take(field.value);
      changed();
    };
    field.addEventListener(field.tagName === "SELECT" ? "change" : "input", hear);
    return field;
  };
  if (action === "label")
    return h(
      "div",
      { class: "field" },
      h("span", { "aria-hidden": "true" }, "As which class?"),
      labelField("As which class?", {
        value: wish.label,
        empty: wish.label === "" && !several() ? "choose a class …" : null,
        changed: (label) => {
          wish.label = label;
          changed();
        },
      }).element,
    );
  if (action === "note")
    return h(
      "label",
      { class: "field" },
      "The note, for everybody to read",
      watch(h("input", { id: "action-text", maxlength: "2000", autocomplete: "off" }), (value) => {
        wish.text = value;
      }),
    );
  if (action === "assign")
    return h(
      "div",
      { class: "pair" },
      h(
        "label",
        { class: "field" },
        "To whom?",
        watch(h("input", { id: "action-to", maxlength: "200", autocomplete: "off", list: "action-names" }), (value) => {
          wish.to = value.trim();
        }),
      ),
      h(
        "label",
        { class: "field" },
        "At most how many?",
        watch(h("input", { id: "action-count", type: "number", min: "1", max: "20000", value: "20" }), (value) => {
          wish.count = Math.min(20000, Math.max(1, Math.round(Number(value)) || 1));
        }),
      ),
      h(
        "datalist",
        { id: "action-names" },
        people.map((name) => h("option", { value: name })),
      ),
    );
  return null;
}

/** What would change, in words and by examples. */
function preview(found) {
  const shares = Object.entries(found.classes);
  return [
    h(
      "p",
      {},
      found.rows === 0
        ? `Nothing would change, of ${count(found.found, "row")}.`
        : ["Changes ", h("b", {}, count(found.rows, "row")), ` of ${found.found.toLocaleString("en")}.`],
    ),
    shares.length > 0 &&
      h(
        "ul",
        { class: "legend-classes" },
        shares.map(([name, rows]) =>
          h(
            "li",
            {},
            classMark(name),
            h("span", { class: "name" }, wordsOf(name)),
            h("span", { class: "quiet" }, String(rows)),
          ),
        ),
      ),
    found.replaced > 0 &&
      h("p", { class: "notice" }, `${count(found.replaced, "label")} of your own would be replaced.`),
    found.left_out.length > 0 && [
      h("p", { class: "quiet" }, "Left alone:"),
      h(
        "ul",
        { class: "quiet left-out" },
        found.left_out.map(({ why, rows }) => h("li", {}, `${count(rows, "row")}: ${why}`)),
      ),
    ],
    found.examples.length > 0 &&
      h(
        "ul",
        { class: "examples" },
        found.examples.map((row) =>
          h(
            "li",
            {},
            h("span", { dir: "auto" }, called(row, 70)),
            row.after !== null && [
              h(
                "span",
                { class: "quiet" },
                row.before === null ? " is " : ` is ${short(wordsOf(row.before), 30)}, becomes `,
              ),
              classMark(row.after),
              h("b", {}, ` ${short(wordsOf(row.after), 40)}`),
            ],
          ),
        ),
        found.rows > found.examples.length &&
          h("li", { class: "quiet" }, `and ${(found.rows - found.examples.length).toLocaleString("en")} more`),
      ),
    ["label", "confirm"].includes(found.action) &&
      h(
        "p",
        { class: "quiet" },
        "Such labels teach the classifier, spend no budget, and count for no measured accuracy. One undo takes all " +
          "of them back.",
      ),
  ];
}

function said(action, answer, wish) {
  const rows = count(answer.done.nodes.length, "row");
  return {
    label: `${rows} labelled ${short(wordsOf(wish.label), 60)}`,
    confirm: `${count(answer.done.nodes.length, "prediction")} confirmed`,
    skip: `${rows} skipped`,
    note: `your note is on ${rows}`,
    assign: `${rows} given to ${short(wish.to, 40)}`,
    remove: `${rows} taken out`,
  }[action];
}

/** The report as of an event or later; null where it does not come in time, or cannot be made. */
async function latestReport(event) {
  for (let looks = 0; looks < LOOKS; looks++) {
    try {
      const report = await get("/report");
      if (report.from >= event) return report;
    } catch {
      return null;
    }
    await new Promise((done) => setTimeout(done, PAUSE));
  }
  return null;
}

/** Say what an action did to the estimated accuracy, before and after. */
async function compare(place, before, event) {
  show(
    place,
    h(
      "p",
      { class: "quiet" },
      h("span", { class: "spinner", "aria-hidden": "true" }),
      "What it does to the estimate …",
    ),
  );
  const after = await latestReport(event);
  const known = [
    ["audit", "On the rows of the audit, drawn at random"],
    ["left_out", "On your own labels, each predicted from all others"],
  ].find(([name]) => before?.[name] && after?.[name]);
  if (!known) {
    show(
      place,
      h(
        "p",
        { class: "quiet" },
        "Whether the predictions became better or worse cannot be told: ",
        `${after?.left_out_lack ?? "there is no estimate from before"}.`,
      ),
    );
    return;
  }
  const [name, words] = known;
  const figure = ({ mean, low, high }) => `${percent(mean)} (${percent(low)} to ${percent(high)})`;
  const worse = after[name].mean < before[name].mean - 0.005;
  show(
    place,
    h(
      "p",
      { class: worse ? "notice" : null },
      `${words}: `,
      h("b", {}, figure(before[name])),
      " right before, ",
      h("b", {}, figure(after[name])),
      " now.",
      worse &&
        " Fewer are right than before: sure predictions of a few classes can drown the others. Undo takes it back.",
    ),
  );
}
