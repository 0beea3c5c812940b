// One line under the classes: what has been saved, what is being saved, what went wrong and how to go on.

import { declareAnyway, takeInstead } from "./choices.js";
import { byId, capital, h, icon, renew, sentence } from "./dom.js";
import { choose, retry, send, undo } from "./flow.js";
import { keyHint } from "./hotkeys.js";
import { several } from "./labels.js";
import { classMark } from "./marks.js";
import { isOwner, on, set, state, unsaved } from "./store.js";

export function startTelling() {
  const line = h("div", { class: "telling", id: "telling" });
  byId("choices").append(line);
  on("saved sending failed error hint phase status", () => draw(line));
  draw(line);
}

function draw(line) {
  const { failed, error, sending, saved, hint } = state;
  const facts = [error, Boolean(error?.again), failed, Boolean(sending), hint, saved, several(), isOwner(), numbers()];
  renew(line, facts, () => {
    if (error) return problem(error);
    if (failed) return kept(failed);
    if (sending) return h("p", { class: "quiet" }, h("span", { class: "spinner", "aria-hidden": "true" }), "Saving …");
    if (hint) return h("p", { class: "quiet hint", role: "status" }, sentence(hint));
    if (saved) return done(saved);
    return h(
      "p",
      { class: "quiet" },
      several() ? "It is saved when you press Enter or Save." : "Everything you choose is saved at once.",
    );
  });
}

/** What the marks of the classes depend on. */
const numbers = () => state.status?.numbers;

function done(saved) {
  return h(
    "p",
    { class: "saved" },
    icon("tick"),
    h("b", {}, saved.undo ? "Saved" : "Undone"),
    saved.label !== null && classMark(saved.label),
    h("span", { class: "words" }, capital(saved.words)),
    saved.undo && h("button", { type: "button", class: "small", on: { click: () => undo(saved.event) } }, "Undo"),
  );
}

/** What did not reach the studio: it is kept here, and can be sent again. */
function kept(failed) {
  const last = failed.at(-1);
  const more = failed.length > 1 ? ` and ${failed.length - 1} more` : "";
  return h(
    "p",
    { class: "bad", role: "alert" },
    h("b", {}, "Not saved yet: "),
    h("span", { class: "words" }, `${last.words}${more} (${last.why}). It is kept here.`),
    h(
      "button",
      { type: "button", class: "small primary", on: { click: () => retry() } },
      "Try again",
      keyHint("retry"),
    ),
    h("button", { type: "button", class: "small", on: { click: unsaved.discard } }, "Discard"),
  );
}

function problem(error) {
  const { suggestion, request, overrule } = error;
  const said = request?.body.labels?.[0]?.label;
  const typed = Array.isArray(said) ? null : said; // of several classes each is one that there is
  const declared = request?.path === "/classes" ? request.body.name : null;
  return h(
    "p",
    { class: "bad", role: "alert" },
    h("span", { class: "words" }, error.words),
    error.again &&
      h(
        "button",
        { type: "button", class: "small primary", on: { click: () => retry() } },
        "Try again",
        keyHint("retry"),
      ),
    overrule &&
      isOwner() &&
      h(
        "button",
        {
          type: "button",
          class: "small primary",
          on: { click: () => send({ ...overrule, body: { ...overrule.body, overrule: true } }) },
        },
        "Overrule it",
      ),
    suggestion &&
      h(
        "button",
        {
          type: "button",
          class: "small primary",
          on: { click: () => (declared ? takeInstead(suggestion) : choose(suggestion)) },
        },
        `Use ${suggestion}`,
      ),
    suggestion &&
      declared &&
      h(
        "button",
        { type: "button", class: "small", on: { click: () => declareAnyway(declared) } },
        `${declared} is a new class`,
      ),
    suggestion &&
      typed &&
      isOwner() &&
      h(
        "button",
        {
          type: "button",
          class: "small",
          on: { click: () => send({ ...request, body: { ...request.body, new_class: true } }) },
        },
        `${typed} is a new class`,
      ),
    h(
      "button",
      { type: "button", class: "small", "aria-label": "Dismiss", on: { click: () => set({ error: null }) } },
      icon("close"),
    ),
  );
}
