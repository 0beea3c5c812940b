// Changes that did not get through. They stay until they are saved or thrown away, also when the page is loaded again.

import { set, state } from "./store.js";

const place = () => `nodewise.unsaved.${state.studio?.session?.name ?? ""}`;

/** What identifies a change: another label for the same node replaces the one that failed. */
const about = (request) => `${request.path} ${request.node ?? JSON.stringify(request.body)} ${request.body.annotator}`;

export const all = () => state.failed ?? [];

export function keep(request, why) {
  write([...all().filter((other) => about(other) !== about(request)), { ...request, why }]);
}

export function drop(request) {
  if (all().length) write(all().filter((other) => about(other) !== about(request)));
}

export function discard() {
  write([]);
}

/** What an earlier load of this page could not save. */
export function restore() {
  let found = [];
  try { found = JSON.parse(sessionStorage.getItem(place()) ?? "[]"); } catch { /* no storage */ }
  if (Array.isArray(found) && found.length) set({ failed: found.map((request) => ({ ...request, home: false })) });
}

function write(failed) {
  set({ failed: failed.length ? failed : null });
  try { sessionStorage.setItem(place(), JSON.stringify(failed)); } catch { /* no storage: kept as long as the page is open */ }
}
