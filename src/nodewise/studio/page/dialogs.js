// Dialogs: the browser's own, which hold the focus and close with Escape.

import { h, icon, show } from "./dom.js";

const draws = new Set(); // of the dialogs that are open
let known = { error: null, failed: null };

/** Say in the dialogs what was refused, or could not be saved. */
export function drawTrouble({ error, failed }) {
  known = { error, failed };
  for (const draw of draws) draw();
}

/**
 * Open a dialog with a title; it is gone once closed. `body` may ask for `close`. What could not be saved meanwhile is
 * said in it.
 */
export function dialog(title, body, width = "") {
  const box = h("dialog", { class: `dialog ${width}`, "aria-label": title, tabindex: "-1" });
  const trouble = h("p", { class: "bad dialog-trouble", role: "alert" });
  const close = () => box.close();
  box.append(
    h(
      "header",
      {},
      h("h2", {}, title),
      h("button", { type: "button", class: "small", "aria-label": "Close", on: { click: close } }, icon("close")),
    ),
    trouble,
    body(close),
  );
  const before = known.error;
  const draw = () => {
    const { error, failed } = known;
    const words = (error !== before && error?.words) || failed?.at(-1)?.why;
    trouble.hidden = !words;
    show(trouble, words, words && /[.?!]$/.test(words) ? "" : ".");
  };
  draws.add(draw);
  const changes = new MutationObserver(() => holdFocus(box));
  changes.observe(box, { childList: true, subtree: true, attributeFilter: ["hidden", "disabled"] });
  box.addEventListener("close", () => {
    changes.disconnect();
    draws.delete(draw);
    box.remove();
  });
  draw();
  box.addEventListener("click", (event) => {
    if (event.target === box) close();
  }); // beside it
  document.body.append(box);
  box.showModal();
  return box;
}

/** What had the focus is gone: the dialog takes it, so that it is seen and does nothing by itself. */
function holdFocus(box) {
  const top = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (top === box && document.activeElement === document.body) box.focus({ preventScroll: true });
}

/** Ask for the annotator's name. */
export function askName(now, rename) {
  return dialog("Who is labelling?", (close) => {
    const field = h("input", {
      id: "annotator-name",
      value: now,
      maxlength: "200",
      required: true,
      autocomplete: "off",
      spellcheck: "false",
    });
    const form = h(
      "form",
      { class: "dialog-body" },
      h("label", { for: "annotator-name" }, "Your name, as it is kept with every label"),
      field,
      h(
        "p",
        { class: "quiet" },
        "Several people can work on one session; each gets other rows, and disagreements are shown. " +
          "The name is remembered in this browser.",
      ),
      h("div", { class: "buttons" }, h("button", { class: "primary" }, "Use this name")),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const name = field.value.trim();
      close();
      if (name && name !== now) rename(name);
    });
    queueMicrotask(() => field.select());
    return form;
  });
}
