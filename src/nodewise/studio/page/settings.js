// The session's settings: all can be read; budget, opinions on each node and guideline can be changed, since the log
// keeps them.

import { get } from "./api.js";
import { likeliestFirst, orderClasses } from "./choices.js";
import { dialog } from "./dialogs.js";
import { bytes, h, show } from "./dom.js";
import { openKeys } from "./help.js";

/** What the settings of a session are called here, for people. */
const FACTS = {
  "closed classes": "these are all the classes",
  several: "several classes for one row",
  strategy: "which rows are asked",
  policy: "trained policy",
  classifier: "how the rest is predicted",
  audit: "rows drawn for the audit",
  "look for classes": "a question for a new class, every so many",
  trust: "doubtful labels count less",
  "release after": "wait for an answer",
  "use labels": "labels of the file count",
  features: "columns of numbers",
  "why this strategy": "why these rows",
};

/**
 * Open the settings over the page.
 *
 * @param {{status: any, isOwner: boolean}} seen
 * @param {{change: (path: string, values: object, words: string) => Promise<boolean>}} acts
 */
export function openSettings({ status, isOwner }, { change }) {
  if (document.querySelector("dialog[open]") || !status) return;
  const body = h("div", { class: "dialog-body" });
  const number = (id, label, value, most) => {
    const input = h("input", { type: "number", id, min: "1", max: String(most), step: "1", value, required: true });
    return { input, field: h("div", { class: "field" }, h("label", { for: id }, label), input) };
  };
  const load = async () => {
    let now;
    try {
      now = await get("/settings");
    } catch (error) {
      show(body, h("p", {}, `The settings could not be fetched: ${error.message}.`));
      return;
    }
    const guideline = h("textarea", {
      id: "set-guideline",
      rows: "3",
      maxlength: "20000",
      placeholder: "What everybody should know of this job",
    });
    guideline.value = now.guideline;
    const budget = number("set-budget", "Budget: labels to spend", now.budget, now.nodes);
    const redundancy = number("set-redundancy", "Labels for each row", now.redundancy, 100);
    const save = async (event) => {
      event.preventDefault();
      const [labels, each, text] = [Number(budget.input.value), Number(redundancy.input.value), guideline.value];
      const changes = /** @type {[string, object, string][]} */ (
        [
          labels !== now.budget && ["/budget", { budget: labels }, `the budget is ${labels} now`],
          each !== now.redundancy && ["/redundancy", { redundancy: each }, `every row is asked of ${each} now`],
          text !== now.guideline && ["/classes/describe", { name: null, text }, "the guideline of the job"],
        ].filter(Boolean)
      );
      for (const [path, values, words] of changes) if (!(await change(path, values, words))) return;
      box.close();
    };
    const facts = [
      ...Object.entries(now.facts)
        .filter(([name, value]) => name !== "policy" || value !== "none")
        .map(([name, value]) => [FACTS[name] ?? name, name === "features" && value === "raw" ? "as they came" : value]),
      ["rows", `${now.nodes.toLocaleString("en")}, with ${now.edges.toLocaleString("en")} links between them`],
      ["file", `${now.file}, ${bytes(now.bytes)}`],
    ];
    show(
      body,
      isOwner
        ? h(
            "form",
            { class: "settings-form", on: { submit: save } },
            h("div", { class: "pair" }, budget.field, redundancy.field),
            h(
              "p",
              { class: "quiet" },
              "With more labels for each row, those that are there wait for further opinions. " +
                "Each change is in the history, and can be undone.",
            ),
            h("div", { class: "field" }, h("label", { for: "set-guideline" }, "Guideline of the job"), guideline),
            h(
              "div",
              { class: "buttons" },
              h("button", { class: "primary" }, "Save"),
              h("button", { type: "button", on: { click: () => box.close() } }, "Cancel"),
            ),
          )
        : [
            h("p", {}, `Budget: ${now.budget} labels. Each row is labelled by ${now.redundancy}.`),
            now.guideline && h("p", { class: "guideline", dir: "auto" }, now.guideline),
          ],
      h("h3", {}, "In this browser"),
      h(
        "label",
        { class: "check" },
        h("input", {
          type: "checkbox",
          id: "set-likely",
          checked: likeliestFirst(),
          on: { change: (event) => orderClasses(event.target.checked) },
        }),
        " Show the likeliest class first; keys and colours stay",
      ),
      h(
        "p",
        {},
        h(
          "button",
          {
            type: "button",
            class: "small",
            on: {
              click: () => {
                box.close();
                openKeys();
              },
            },
          },
          "Change the keys",
        ),
      ),
      h("h3", {}, "Fixed when it was made"),
      h(
        "dl",
        { class: "fact-table" },
        facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
      ),
    );
  };
  const box = dialog("Settings", () => body, "wide");
  load(); // once: what is being typed must not be taken away
}
