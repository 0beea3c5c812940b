// The work of each person: labels, time, agreement; rows given to somebody by a filter, and freed again.

import { get, post } from "./api.js";
import { dialog } from "./dialogs.js";
import { count, h, percent, show } from "./dom.js";
import { knownAnswers, rightness } from "./known.js";
import { classes } from "./labels.js";

const COLUMNS = ["Who", "Labels", "Time a label", "Others agree", "As settled", "Right where known", "Rows out"];
const FILTERS = { unlabelled: "not labelled", unsure: "unsure", confident: "sure predictions", skipped: "skipped" };

/**
 * Open the list of people with their work over the page; for the owner and reviewers.
 *
 * @param {{me: string, status: any, isOwner: boolean}} seen
 * @param {{refresh: () => void}} acts
 */
export function openAssigning({ me, status, isOwner }, { refresh }) {
  if (document.querySelector("dialog[open]")) return;
  const table = h("tbody");
  const said = h("p", { role: "status" });
  const act = async (path, body, words) => {
    show(said);
    try {
      show(said, words(await post(path, { annotator: me, ...body })));
      refresh();
      await load();
    } catch (error) {
      show(said, `Nothing was changed: ${error.message}.`);
    }
  };
  const cell = (column, ...said) => h("td", { data: { title: COLUMNS[column] } }, ...said);
  const row = (person) =>
    h(
      "tr",
      { data: { person: person.annotator } },
      h("th", { scope: "row", dir: "auto" }, person.annotator),
      cell(1, `${person.labels}${person.bulk ? ` + ${person.bulk} in bulk` : ""}`),
      cell(2, person.seconds === null ? "–" : `${person.seconds.toFixed(1)} s`),
      cell(3, person.agreement === null ? "–" : `${percent(person.agreement)} of ${person.shared}`),
      cell(4, person.settled ? `${person.right} of ${person.settled}` : "–"),
      cell(5, rightness(person.known)),
      cell(
        6,
        person.open,
        isOwner &&
          person.open > 0 &&
          h(
            "button",
            {
              type: "button",
              class: "small",
              "aria-label": `Free the rows of ${person.annotator}`,
              on: {
                click: () =>
                  act(
                    "/release",
                    { released: person.annotator },
                    (answer) => `${count(answer.count, "row")} of ${person.annotator} can be asked of others now.`,
                  ),
              },
            },
            "Free them",
          ),
      ),
    );
  const known = isOwner ? knownAnswers(act) : null;
  const load = async () => {
    try {
      await known?.load();
      const { people } = await get("/people/report");
      show(table, people.map(row));
      if (people.length === 0) show(said, "Nobody has labelled anything yet.");
    } catch (error) {
      show(said, `The list could not be fetched: ${error.message}.`);
    }
  };
  dialog(
    "Each one's work",
    () =>
      h(
        "div",
        { class: "dialog-body" },
        h(
          "div",
          { class: "sideways", tabindex: "0", role: "region", "aria-label": "Labels, time and agreement of each" },
          h(
            "table",
            { class: "kappa each-work" },
            h(
              "thead",
              {},
              h(
                "tr",
                {},
                COLUMNS.map((name) => h("th", { scope: "col" }, name)),
              ),
            ),
            table,
          ),
        ),
        isOwner && giving(act, Object.keys(status.annotators)),
        known?.part,
        said,
      ),
    "wide",
  );
  load();
}

/** The form that gives rows to somebody; `labellers`: who has labelled something. */
function giving(act, labellers) {
  const names = h("datalist", { id: "assign-names" });
  get("/people")
    .then(({ people }) => {
      const known = people.filter((one) => one.revoked === null && one.role === "annotator").map((one) => one.name);
      const every = new Set([...known, ...labellers]);
      show(
        names,
        [...every].map((name) => h("option", { value: name })),
      );
    })
    .catch(() => {}); // the name can be typed
  const field = (id, label, input) => h("div", { class: "field" }, h("label", { for: id }, label), input);
  const to = h("input", {
    id: "assign-to",
    list: "assign-names",
    required: true,
    maxlength: "200",
    autocomplete: "off",
  });
  const filter = h(
    "select",
    { id: "assign-filter" },
    Object.entries(FILTERS).map(([value, name]) => h("option", { value }, name)),
  );
  const label = h(
    "select",
    { id: "assign-label" },
    h("option", { value: "" }, "any"),
    classes().map((name) => h("option", { value: name }, name)),
  );
  const text = h("input", { id: "assign-text", type: "search", maxlength: "200", autocomplete: "off" });
  const most = h("input", { id: "assign-count", type: "number", min: "1", max: "1000", value: "20", required: true });
  const give = (event) => {
    event.preventDefault();
    const who = to.value.trim();
    act(
      "/assign",
      {
        to: who,
        filter: filter.value,
        label: label.value || null,
        q: text.value,
        count: Math.round(Number(most.value)),
      },
      (answer) => {
        const many = answer.nodes.length;
        return `${count(many, "row")} of ${answer.found} found ${many === 1 ? "was" : "were"} given to ${who}.`;
      },
    );
  };
  return [
    h("h3", {}, "Give rows to somebody"),
    h(
      "form",
      { class: "person-form", on: { submit: give } },
      names,
      field("assign-to", "To", to),
      field("assign-filter", "Rows that are", filter),
      field("assign-label", "Predicted as", label),
      field("assign-text", "With the words", text),
      field("assign-count", "At most", most),
      h("button", { class: "primary" }, "Give them"),
    ),
    h(
      "p",
      { class: "quiet" },
      "They are asked about these rows first, and nobody else is until you free the rows here, or time does.",
    ),
  ];
}
