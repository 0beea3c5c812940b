// Questions with known answers, for the owner: which rows, how many of a hundred questions, what people said there.

import { get } from "./api.js";
import { called, count, h, percent, short, show } from "./dom.js";
import { classes } from "./labels.js";

/** How right somebody is where answers are known, with its interval. */
export function rightness(share) {
  if (share === null) return "–";
  return `${percent(share.mean)} of ${share.nodes} (${percent(share.low)} to ${percent(share.high)})`;
}

/**
 * The part of the dialog that lists and adds them. `act(path, body, words)` sends a change and says what came of it.
 * Gives the part and a function that fetches the list anew.
 */
export function knownAnswers(act) {
  const list = h("ul", { class: "plain known-list" });
  const said = h("p", { class: "quiet" });
  const share = h("input", { id: "known-percent", type: "number", min: "0", max: "50", required: true });
  const row = h("input", { id: "known-row", required: true, maxlength: "200", autocomplete: "off" });
  const label = h(
    "select",
    { id: "known-label" },
    classes().map((name) => h("option", { value: name }, name)),
  );
  const field = (id, name, input) => h("div", { class: "field" }, h("label", { for: id }, name), input);
  const item = (each) => {
    const answers = Object.entries(each.answers).map(([who, what]) => `${who}: ${what}`);
    return h(
      "li",
      { data: { node: String(each.node) } },
      h("bdi", {}, called(each, 60)),
      " is ",
      h("b", {}, short(each.label, 40)),
      answers.length > 0 && h("span", { class: "quiet" }, ` · ${answers.join(", ")}`),
    );
  };
  const load = async () => {
    const known = await get("/known");
    if (document.activeElement !== share) share.value = String(known.percent);
    show(list, known.rows.map(item));
    show(
      said,
      known.rows.length === 0
        ? "No answers are known yet. Add rows whose class you are sure of; ten or more say something of a person."
        : `${count(known.rows.length, "row")} with a known answer, ${known.percent} of 100 questions.`,
    );
  };
  const add = async (event) => {
    event.preventDefault();
    const [found] = (await get(`/nodes?limit=1&q=${encodeURIComponent(row.value.trim())}`)).nodes;
    if (!found) {
      show(said, `No row has “${row.value.trim()}” in its name or text: give its number or some of its words.`);
      return;
    }
    const body = { labels: [{ node: found.node, label: label.value }] };
    await act("/known", body, () => `“${called(found, 60)}” is known to be ${label.value}.`);
    row.value = "";
  };
  const set = (event) => {
    event.preventDefault();
    const wanted = Math.round(Number(share.value));
    act("/known", { percent: wanted }, () => `From now on ${wanted} of 100 questions have a known answer.`);
  };
  const part = [
    h("h3", {}, "Questions with known answers"),
    said,
    list,
    h(
      "form",
      { class: "person-form", on: { submit: add } },
      field("known-row", "Row, by number or words", row),
      field("known-label", "Is", label),
      h("button", {}, "Add it"),
    ),
    h(
      "form",
      { class: "person-form", on: { submit: set } },
      field("known-percent", "Of 100 questions", share),
      h("button", {}, "Set the share"),
    ),
    h(
      "p",
      { class: "quiet" },
      "They look like any other question, and what people answer there trains nothing.",
      " Only you can see which they are.",
    ),
  ];
  return { part, load };
}
