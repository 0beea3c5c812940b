// The session's settings: all can be read; budget, opinions on each node and guideline can be changed, since the log
// keeps them.

import { get } from "./api.js";
import { dialog } from "./dialogs.js";
import { bytes, h, show } from "./dom.js";
import { send } from "./flow.js";
import { isOwner, off, on, state } from "./store.js";

/** Open the settings over the page. */
export function openSettings() {
  if (document.querySelector("dialog[open]") || !state.status) return;
  const body = h("div", { class: "dialog-body" });
  const change = (path, values, words) =>
    send({ path, body: { annotator: state.me, ...values }, words, node: null, home: false });
  const number = (id, label, value, most, changed) => {
    const input = h("input", { type: "number", id, min: "1", max: String(most), step: "1", value });
    input.addEventListener("change", () => {
      if (input.checkValidity() && Number(input.value) !== value) changed(Number(input.value));
    });
    return h("div", { class: "field" }, h("label", { for: id }, label), input);
  };
  const load = async () => {
    let now;
    try {
      now = await get("/settings");
    } catch (error) {
      show(body, h("p", {}, `The settings could not be fetched: ${error.message}.`));
      return;
    }
    if (body.contains(document.activeElement) && body.childElementCount > 0) return; // somebody is changing something
    const guideline = h("textarea", {
      id: "set-guideline",
      rows: "3",
      maxlength: "20000",
      placeholder: "What everybody should know of this job",
    });
    guideline.value = now.guideline;
    guideline.addEventListener("change", () =>
      change("/classes/describe", { name: null, text: guideline.value }, "the guideline of the job"),
    );
    const facts = [
      ...Object.entries(now.facts),
      ["graph", `${now.nodes.toLocaleString("en")} nodes, ${now.edges.toLocaleString("en")} edges`],
      ["file", `${now.file}, ${bytes(now.bytes)}`],
    ];
    show(
      body,
      isOwner()
        ? [
            h(
              "div",
              { class: "pair" },
              number("set-budget", "Budget: labels to spend", now.budget, now.nodes, (budget) =>
                change("/budget", { budget }, `the budget is ${budget} now`),
              ),
              number("set-redundancy", "Labels for each node", now.redundancy, 100, (redundancy) =>
                change("/redundancy", { redundancy }, `every node is asked of ${redundancy} now`),
              ),
            ),
            h(
              "p",
              { class: "quiet" },
              "With more labels for each node, those that are there wait for further opinions. " +
                "Each change is in the history, and can be undone.",
            ),
            h("div", { class: "field" }, h("label", { for: "set-guideline" }, "Guideline of the job"), guideline),
          ]
        : [
            h("p", {}, `Budget: ${now.budget} labels. Each node is labelled by ${now.redundancy}.`),
            now.guideline && h("p", { class: "guideline", dir: "auto" }, now.guideline),
          ],
      h("h3", {}, "Fixed when it was made"),
      h(
        "dl",
        { class: "fact-table" },
        facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
      ),
    );
  };
  const box = dialog("Settings", () => body, "wide");
  on("status", load);
  box.addEventListener("close", () => off("status", load));
  load();
}
