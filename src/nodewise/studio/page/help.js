// The help: every key and what it does, and a list in which one gives a command another key.

import { dialog } from "./dialogs.js";
import { announce, count, h, show } from "./dom.js";
import {
  bind,
  COMMANDS,
  called,
  changes,
  classOf,
  isChanged,
  keysOf,
  readKeys,
  resetKeys,
  writeKeys,
} from "./hotkeys.js";
import { nameOf } from "./labels.js";

const LARGEST = 100_000; // bytes of a file with keys

const CANVAS_KEYS = [
  [["arrows"], "move the picture, when it has the focus"],
  [["+", "−"], "closer, further"],
  [["0"], "see all"],
  [["Enter"], "look at the row nearest to the middle"],
  [["Space"], "take it into the choice, while rows are chosen on the map"],
];

/** Every key with what it does. */
function listed() {
  const isClass = ({ id }) => classOf(id) !== null;
  const own = COMMANDS.filter(isClass);
  const classKeys = own.some(({ id }) => isChanged(id))
    ? own.flatMap(({ id }) => keysOf(id).map(called))
    : ["1 … 9, 0"];
  const others = COMMANDS.filter((each) => !isClass(each));
  return [
    [classKeys, "give the first ten classes"],
    ...others.map(({ id, does }) => [keysOf(id).map(called), does]),
    [["Esc"], "back to the asked row; leave focus; close a dialog and throw away what was typed in it"],
  ];
}

const table = (rows) =>
  h(
    "dl",
    { class: "key-table" },
    rows.map(([keys, does]) => [
      h(
        "dt",
        {},
        keys.map((each, index) => [index ? " " : "", h("kbd", {}, each)]),
      ),
      h("dd", {}, does),
    ]),
  );

/** Open the help over the page. */
export function showHelp() {
  if (document.querySelector("dialog[open]")) return;
  const body = h("div", { class: "dialog-body" });
  const read = () => {
    show(
      body,
      table(listed()),
      h("h3", {}, "In the neighbourhood and the map"),
      table(CANVAS_KEYS),
      h(
        "p",
        { class: "quiet" },
        "Drag to move, the wheel or two fingers to zoom, a click to look at a row. " +
          "A press within half a second after a new row has appeared is ignored, " +
          "so that a double press cannot label two rows.",
      ),
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "button", id: "change-keys", on: { click: change } }, "Change the keys"),
      ),
    );
  };
  const change = () => {
    show(
      body,
      keyEditor(() => box.close()),
    );
    /** @type {HTMLElement | null} */ (body.querySelector("button"))?.focus();
  };
  read();
  const box = dialog("Keys", () => body, "wider");
}

/** Open the list of keys to change over the page. */
export function openKeys() {
  if (document.querySelector("dialog[open]")) return;
  const box = dialog(
    "Keys",
    () =>
      h(
        "div",
        { class: "dialog-body" },
        keyEditor(() => box.close()),
      ),
    "wider",
  );
}

/**
 * The commands with their keys, each of which can be changed.
 *
 * @param {() => void} done called when nothing more is to be changed.
 */
function keyEditor(done) {
  const said = h("p", { class: "key-said", role: "status" });
  const wrong = h("p", { class: "bad", role: "alert" });
  const list = h("ul", { class: "key-list" });
  const note = h("div", { class: "key-note" }, wrong, said);
  /** Say what came of it: below the command's line, or at the end where it is about all of them. */
  const tell = (id, why, words) => {
    (list.querySelector(`[data-change="${id}"]`)?.closest("li") ?? end).append(note);
    wrong.hidden = !why;
    show(wrong, why);
    show(said, why ? "" : words);
    if (!why) announce(words);
  };
  const draw = (focus = "") => {
    show(list, COMMANDS.map(line));
    again.disabled = changes() === 0;
    if (focus) /** @type {HTMLElement | null} */ (list.querySelector(`[data-change="${focus}"]`))?.focus();
  };
  /** Have the next key that is pressed become the command's. */
  const wait = (button, { id, does }) => {
    show(button, "Press a key …");
    button.classList.add("waiting");
    tell(id, "", `Press the new key for “${does}”; Escape leaves it as it is.`);
    const stop = () => {
      button.removeEventListener("keydown", take);
      button.removeEventListener("blur", stop);
      show(button, "Change");
      button.classList.remove("waiting");
    };
    const take = (event) => {
      if (event.repeat) {
        event.preventDefault(); // the press of Enter that began this may still be held
        return;
      }
      if (event.key === "Tab" || ["Shift", "Control", "Alt", "Meta", "CapsLock"].includes(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      stop();
      if (event.key === "Escape") {
        tell(id, "", "It stays as it is.");
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey) {
        tell(id, "Keys together with Ctrl, Alt or ⌘ belong to the browser: take one without.", "");
        return;
      }
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const why = bind(id, key);
      draw(id);
      tell(id, why, `${called(key)}: ${does}.`);
    };
    button.addEventListener("keydown", take);
    button.addEventListener("blur", stop);
    button.focus(); // a click alone does not in every browser, and keys go where the focus is
  };
  const line = (command) => {
    const { id, does } = command;
    const number = classOf(id);
    const name = number === null ? null : nameOf(number);
    const words = name === null ? does : `${does}: ${name}`;
    return h(
      "li",
      {},
      h(
        "span",
        { class: "keys" },
        keysOf(id).map((each) => h("kbd", {}, called(each))),
      ),
      h("span", { class: "does", dir: "auto" }, words),
      h(
        "button",
        {
          type: "button",
          class: "small",
          data: { change: id },
          "aria-label": `Change the key for: ${words}`,
          on: { click: (event) => wait(event.currentTarget, command) },
        },
        "Change",
      ),
      isChanged(id) &&
        h(
          "button",
          {
            type: "button",
            class: "small ghost",
            "aria-label": `The usual key again for: ${words}`,
            on: {
              click: () => {
                const why = bind(id, null);
                draw(id);
                tell(id, why, `The usual key again: ${does}.`);
              },
            },
          },
          "Usual key",
        ),
    );
  };
  const again = h(
    "button",
    {
      type: "button",
      on: {
        click: () => {
          resetKeys();
          draw();
          tell("", "", "All keys are the usual ones again.");
        },
      },
    },
    "All usual keys again",
  );
  const file = h("input", {
    type: "file",
    id: "keys-file",
    accept: ".json,application/json",
    on: {
      change: async () => {
        const chosen = file.files?.[0];
        if (!chosen) return;
        const why =
          chosen.size > LARGEST
            ? `The file has ${count(chosen.size, "byte")}, more than keys can need: take one that was saved here.`
            : readKeys(await chosen.text());
        file.value = "";
        draw();
        tell("", why, `The keys of the file are taken: ${count(changes(), "command")} with another key than usual.`);
      },
    },
  });
  const end = h("div");
  draw();
  return [
    h(
      "p",
      { class: "quiet" },
      "Your keys stay in this browser and hold in every job. They do nothing while you type in a field. " +
        "Esc, Tab, the arrows and Ctrl Z always keep their meaning.",
    ),
    list,
    h("label", { class: "field", for: "keys-file" }, "Take keys from a file", file),
    end,
    h(
      "div",
      { class: "buttons" },
      again,
      h("button", { type: "button", on: { click: save } }, "Save to a file"),
      h("button", { type: "button", class: "primary", on: { click: done } }, "Done"),
    ),
  ];
}

function save() {
  const address = URL.createObjectURL(new Blob([writeKeys()], { type: "application/json" }));
  const link = h("a", { href: address, download: "nodewise-keys.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
