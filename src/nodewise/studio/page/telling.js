// One line under the classes: what has been saved, what is being saved, what went wrong and how to go on.

import { byId, capital, h, icon, renew, sentence } from "./dom.js";
import { keyHint } from "./hotkeys.js";
import { several } from "./labels.js";
import { classMark } from "./marks.js";

const line = h("div", { class: "telling", id: "telling" });

/**
 * @param {{failed: any[] | null, error: any, sending: any, saved: any, hint: string, status: any, isOwner: boolean}}
 *   seen what became of the last change.
 * @param {{choose: (label: string) => void, retry: () => void, send: (request: any) => void,
 *   undo: (event: number) => void, discard: () => void, dismiss: () => void, takeInstead: (name: string) => void,
 *   declareAnyway: (name: string) => void}} acts what is asked for.
 */
export function drawTelling(seen, acts) {
  const { failed, error, sending, saved, hint } = seen;
  if (!line.isConnected) byId("choices").append(line);
  const facts = [error, Boolean(error?.again), failed, Boolean(sending), hint, saved, several(), seen.isOwner];
  renew(line, [...facts, seen.status?.numbers], () => {
    if (error) return problem(error, seen.isOwner, acts);
    if (failed) return kept(failed, acts);
    if (sending) return h("p", { class: "quiet" }, h("span", { class: "spinner", "aria-hidden": "true" }), "Saving …");
    if (hint) return h("p", { class: "quiet hint", role: "status" }, sentence(hint));
    if (saved) return done(saved, acts);
    return h(
      "p",
      { class: "quiet" },
      several() ? "It is saved when you press Enter or Save." : "Everything you choose is saved at once.",
    );
  });
}

function done(saved, acts) {
  return h(
    "p",
    { class: "saved" },
    icon("tick"),
    h("b", {}, saved.undo ? "Saved" : "Undone"),
    saved.label !== null && classMark(saved.label),
    h("span", { class: "words" }, capital(saved.words)),
    saved.undo && h("button", { type: "button", class: "small", on: { click: () => acts.undo(saved.event) } }, "Undo"),
  );
}

/** What did not reach the studio: it is kept here, and can be sent again. */
function kept(failed, acts) {
  const last = failed.at(-1);
  const more = failed.length > 1 ? ` and ${failed.length - 1} more` : "";
  return h(
    "p",
    { class: "bad", role: "alert" },
    h("b", {}, "Not saved yet: "),
    h("span", { class: "words" }, `${last.words}${more} (${last.why}). It is kept here.`),
    h(
      "button",
      { type: "button", class: "small primary", on: { click: () => acts.retry() } },
      "Try again",
      keyHint("retry"),
    ),
    h("button", { type: "button", class: "small", on: { click: () => acts.discard() } }, "Discard"),
  );
}

function problem(error, isOwner, acts) {
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
        { type: "button", class: "small primary", on: { click: () => acts.retry() } },
        "Try again",
        keyHint("retry"),
      ),
    overrule &&
      isOwner &&
      h(
        "button",
        {
          type: "button",
          class: "small primary",
          on: { click: () => acts.send({ ...overrule, body: { ...overrule.body, overrule: true } }) },
        },
        "Overrule it",
      ),
    suggestion &&
      h(
        "button",
        {
          type: "button",
          class: "small primary",
          on: { click: () => (declared ? acts.takeInstead(suggestion) : acts.choose(suggestion)) },
        },
        `Use ${suggestion}`,
      ),
    suggestion &&
      declared &&
      h(
        "button",
        { type: "button", class: "small", on: { click: () => acts.declareAnyway(declared) } },
        `${declared} is a new class`,
      ),
    suggestion &&
      typed &&
      isOwner &&
      h(
        "button",
        {
          type: "button",
          class: "small",
          on: { click: () => acts.send({ ...request, body: { ...request.body, new_class: true } }) },
        },
        `${typed} is a new class`,
      ),
    h(
      "button",
      { type: "button", class: "small", "aria-label": "Dismiss", on: { click: () => acts.dismiss() } },
      icon("close"),
    ),
  );
}
