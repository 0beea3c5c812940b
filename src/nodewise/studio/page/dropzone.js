// A place to drop a file on, which is also an ordinary file field for mouse, touch and keyboard.

import { h, show } from "./dom.js";
import { icon } from "./icons.js";

/** @param {{id: string, title: string, hint: string, chosen: (file: File) => void, small?: boolean}} options */
export function dropZone({ id, title, hint, chosen, small = false }) {
  const field = h("input", { type: "file", id, accept: ".csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain", class: "file-field" });
  const words = h("span", { class: "drop-title" }, title);
  const zone = h("label", { class: small ? "drop small" : "drop", for: id }, icon("file"), h("span", {}, words, h("span", { class: "quiet" }, hint)), field);
  const take = (file) => {
    if (!file) return;
    show(words, small ? file.name : title);
    chosen(file);
  };
  field.addEventListener("change", () => take(field.files[0]));
  for (const type of ["dragenter", "dragover"]) zone.addEventListener(type, (event) => { event.preventDefault(); zone.classList.add("over"); });
  for (const type of ["dragleave", "drop"]) zone.addEventListener(type, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => { event.preventDefault(); take(event.dataTransfer.files[0]); });
  return zone;
}
