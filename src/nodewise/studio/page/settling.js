// The page on which disagreements are settled: every node with differing votes, each vote with its annotator; the owner
// decides.

import { get } from "./api.js";
import { dialog } from "./dialogs.js";
import { called, count, h, renew, settle, short, show } from "./dom.js";
import { look, send } from "./flow.js";
import { classMark } from "./marks.js";
import { classes, isOwner, off, on, state } from "./store.js";

const SHOWN = 200;

/** Open the list of disagreements over the page. */
export function openSettling() {
  if (document.querySelector("dialog[open]") || !state.status) return;
  const list = h("ul", { class: "settle-list" });
  const said = h("p", { class: "quiet", role: "status" });
  const wanted = new Map(); // node -> the class to settle it as, once the button is pressed
  const decide = (node, label) =>
    send({
      path: "/settle",
      body: { annotator: state.me, node: node.node, label },
      words: `“${called(node)}” is settled as ${short(label, 60)}`,
      node: null,
      home: false,
    });
  const row = (node) => {
    const votes = Object.entries(node.votes);
    const sides = [...new Set(votes.map(([, label]) => label))];
    const other = h(
      "select",
      { "aria-label": `Another class for ${called(node)}` },
      h("option", { value: "" }, "another class …"),
      classes()
        .filter((name) => !sides.includes(name))
        .map((name) => h("option", { value: name }, name)),
    );
    const so = h(
      "button",
      { type: "button", class: "small", on: { click: () => decide(node, other.value) } },
      "Settle it so",
    );
    if (classes().includes(wanted.get(node.node))) other.value = wanted.get(node.node);
    so.disabled = !other.value;
    other.addEventListener("change", () => {
      wanted.set(node.node, other.value);
      so.disabled = !other.value;
    });
    return h(
      "li",
      { class: node.settled_by === null ? null : "settled", data: { node: node.node } },
      h(
        "button",
        {
          type: "button",
          class: "link name",
          dir: "auto",
          on: {
            click: () => {
              box.close();
              look(node.node);
            },
          },
        },
        called(node),
      ),
      h(
        "ul",
        { class: "ballots" },
        sides.map((label) =>
          h(
            "li",
            {},
            classMark(label),
            h("b", {}, label),
            h(
              "span",
              { class: "quiet" },
              ` ${votes
                .filter(([, said]) => said === label)
                .map(([who]) => short(who, 30))
                .join(", ")}`,
            ),
            isOwner() &&
              h(
                "button",
                {
                  type: "button",
                  class: "small",
                  "aria-label": `Settle ${called(node)} as ${label}`,
                  "aria-pressed": String(node.settled_by !== null && node.label === label),
                  on: { click: () => decide(node, label) },
                },
                node.settled_by !== null && node.label === label ? "Settled" : "It is this",
              ),
          ),
        ),
      ),
      h(
        "p",
        { class: "quiet" },
        node.settled_by === null
          ? ["counts as ", h("b", {}, node.label), " until it is settled"]
          : ["settled as ", h("b", {}, node.label), ` by ${short(node.settled_by, 30)}`],
        isOwner() && [other, so],
      ),
    );
  };
  const load = async () => {
    if (!box.isConnected) return;
    try {
      const { nodes } = await get(`/disagreements?annotator=${encodeURIComponent(state.me)}`);
      const open = nodes.filter((node) => node.settled_by === null).length;
      show(
        said,
        nodes.length === 0
          ? "Nobody disagrees with anybody."
          : `${count(open, "disagreement")} to settle, ${nodes.length - open} settled.`,
        !isOwner() && " The session's owner settles them.",
      );
      renew(list, [nodes, classes()], () => [
        nodes.slice(0, SHOWN).map(row),
        nodes.length > SHOWN && h("li", { class: "quiet" }, `and ${nodes.length - SHOWN} more`),
      ]);
    } catch (error) {
      show(said, `The list could not be fetched: ${error.message}.`);
    }
  };
  const box = dialog(
    "Disagreements",
    () =>
      h(
        "div",
        { class: "dialog-body" },
        h(
          "p",
          { class: "quiet" },
          "What is settled counts whatever the votes say, and nobody is asked about it again. " +
            "The votes stay, and an entry in the history takes it back.",
        ),
        said,
        list,
      ),
    "wide",
  );
  const renewed = settle(load, 60, 300);
  on("status", renewed);
  box.addEventListener("close", () => off("status", renewed));
  load();
}
