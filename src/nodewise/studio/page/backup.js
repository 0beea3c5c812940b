// A backup that is opened: its file becomes a session of the studio, under a name that none has.

import { pageOf, upload } from "./api.js";
import { h, sentence, show } from "./dom.js";
import { dropZone } from "./drop_zone.js";

/**
 * A section with a field for the file.
 *
 * @param {string[]} taken names that sessions have.
 */
export function backupOpener(taken) {
  const name = h("input", { id: "backup-name", maxlength: "100", autocomplete: "off", required: true });
  const said = h("p", { class: "bad", role: "alert", hidden: true });
  let file = null;
  const form = h(
    "form",
    { hidden: true },
    h("div", { class: "field" }, h("label", { for: "backup-name" }, "What the session is to be called"), name),
    h("div", { class: "buttons" }, h("button", { class: "primary" }, "Open it")),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const parts = new FormData();
    parts.append("job", file);
    parts.append("name", name.value.trim());
    form.inert = true;
    said.hidden = true;
    try {
      location.assign(pageOf((await upload("/session/backup", parts)).name));
    } catch (error) {
      show(said, sentence(error.message));
      said.hidden = form.inert = false;
    }
  });
  const zone = dropZone({
    id: "backup-file",
    title: "Choose a backup, or drop it here",
    hint: "A .nodewise file. It is checked, and takes the place of no other session.",
    small: true,
    accept: ".nodewise",
    chosen: (given) => {
      file = given;
      name.value = freeName(given.name.replace(/\.nodewise$/i, ""), taken);
      form.hidden = false;
      said.hidden = true;
      name.focus();
    },
  });
  return h(
    "section",
    { class: "box", "aria-labelledby": "backup" },
    h("h2", { id: "backup" }, "Go on with a backup"),
    zone,
    form,
    said,
  );
}

/** The name, or the first like it that is not taken. */
function freeName(name, taken) {
  let free = name;
  for (let number = 2; taken.includes(free); number++) free = `${name.slice(0, 90)} (${number})`;
  return free;
}
