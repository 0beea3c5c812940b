// A zone to drop a file on.

import { h, icon, show } from "./dom.js";

const TABLES =
  ".csv,.tsv,.txt,.xlsx,.xlsm,.jsonl,.ndjson,.json,.parquet,.graphml,.edges,.edgelist,.npz," +
  "text/csv,text/tab-separated-values,text/plain";

/**
 * A zone to drop a file on, which is also an ordinary file field for mouse, touch and keyboard.
 * `several`: the files of a folder may be chosen together; `chosen` gets the first one and the others.
 * @param {{id: string, title: string, hint: string, chosen: (file: File, more: File[]) => void, small?: boolean,
 *   accept?: string, several?: boolean}} options
 */
export function dropZone({ id, title, hint, chosen, small = false, accept = TABLES, several = false }) {
  const field = h("input", {
    type: "file",
    id,
    accept: several ? `${accept},.zip` : accept,
    class: "file-field",
    multiple: several,
  });
  const words = h("span", { class: "drop-title" }, title);
  const zone = h(
    "label",
    { class: small ? "drop small" : "drop", for: id },
    icon("file"),
    h("span", {}, words, h("span", { class: "quiet" }, hint)),
    field,
  );
  const take = ([file, ...more]) => {
    if (!file) return;
    show(words, small ? file.name : title);
    chosen(file, several ? more : []);
  };
  field.addEventListener("change", () => take(field.files));
  for (const type of ["dragenter", "dragover"])
    zone.addEventListener(type, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  for (const type of ["dragleave", "drop"]) zone.addEventListener(type, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
  });
  return zone;
}
