// The documented REST API, and what is said when it does not answer. The token, where there is one, travels in a
// cookie.

import { inRows } from "./labels.js";

const BASE = "/api/v1";

/** The session that this page belongs to, by its address; null on a page that belongs to none. */
export const SESSION = location.pathname.startsWith("/s/") ? decodeURIComponent(location.pathname.slice(3)) : null;

/** The address of a session's page. */
export const pageOf = (name) => `/s/${encodeURIComponent(name)}`;

/** The address of a call, about the page's own session. */
export const at = (path) =>
  `${BASE}${path}${SESSION === null ? "" : `${path.includes("?") ? "&" : "?"}session=${encodeURIComponent(SESSION)}`}`;
const PATIENCE = 90_000;

/** Work that may take long: `path` carries its ticket, `cancel` ends it here and in the studio. */
export function cancellable() {
  const ticket = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
  const controller = new AbortController();
  return {
    ticket,
    signal: controller.signal,
    cancelled: () => controller.signal.aborted,
    path: (path) => `${path}${path.includes("?") ? "&" : "?"}ticket=${ticket}`,
    cancel: async () => {
      controller.abort();
      try {
        await call("POST", "/cancel", { ticket });
      } catch {
        /* the studio is gone, and the work with it */
      }
    },
  };
}

/** A request that failed. `status` is 0 where no answer came, so that nobody knows whether it was done. */
export class ApiError extends Error {
  constructor(status, message, suggestion = null, labelledBy = null) {
    super(message);
    this.status = status;
    this.suggestion = suggestion;
    this.labelledBy = labelledBy;
  }
}

export const get = (path, signal) => call("GET", path, undefined, signal);
/** A call that is about the studio, not about the page's session. */
export const postToStudio = (path, body) => call("POST", path, body);
export const post = (path, body) => call("POST", path, SESSION === null ? body : { ...body, session: SESSION });

async function call(method, path, body = undefined, signal = undefined) {
  /** @type {RequestInit} */
  const options = {
    method,
    headers: { Accept: "application/json" },
    credentials: "same-origin",
    signal: signal ?? AbortSignal.timeout(PATIENCE),
  };
  if (body !== undefined) {
    Object.assign(options.headers, { "Content-Type": "application/json" });
    options.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(method === "GET" ? at(path) : BASE + path, options);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(
      0,
      error.name === "TimeoutError" ? "the studio has not answered for a long time" : "the studio does not answer",
    );
  }
  if (!answer.ok) throw await failure(answer);
  try {
    return await answer.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "the studio's answer broke off");
  }
}

async function failure(answer) {
  let json = {};
  try {
    json = await answer.json();
  } catch {
    /* an answer without JSON is told by its number */
  }
  return new ApiError(
    answer.status,
    words(answer.status, json.error),
    json.suggestion ?? null,
    json.labelled_by ?? null,
  );
}

function words(status, said) {
  if (status === 401)
    return "your link does not work (any more): open the address that you were given, or ask for another";
  return inRows(said || "") || `the studio answered with an error (${status})`;
}

/**
 * Fetch a file, for a form if one is sent, and hand it to the browser to save; errors can be told, unlike with a plain
 * link.
 */
export async function download(path, signal = undefined, form = undefined) {
  let answer;
  try {
    answer = form
      ? await fetch(BASE + path, { method: "POST", body: form, credentials: "same-origin", signal })
      : await fetch(at(path), { credentials: "same-origin", signal });
  } catch {
    throw new ApiError(0, signal?.aborted ? "it was cancelled" : "the studio does not answer");
  }
  if (!answer.ok) throw await failure(answer);
  const said = answer.headers.get("Content-Disposition") ?? "";
  const encoded = /filename\*=utf-8''([^;]+)/i.exec(said); // what a name with blanks or other letters is sent as
  const named = encoded ? [said, decodeURIComponent(encoded[1])] : /filename="?([^";]+)"?/.exec(said);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = named ? named[1] : path.split("?")[0].split("/").pop();
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return link.download;
}

/** Send a form with files. `sent` is told the share that has left this browser. */
export function upload(path, form, sent = (/** @type {number} */ _share) => {}) {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("POST", BASE + path);
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => event.lengthComputable && sent(event.loaded / event.total));
    request.addEventListener("load", () => {
      const json = request.response ?? {};
      if (request.status >= 200 && request.status < 300) done(json);
      else failed(new ApiError(request.status, words(request.status, json.error), json.suggestion ?? null));
    });
    request.addEventListener("error", () => failed(new ApiError(0, "the studio does not answer, or refused the file")));
    request.send(form);
  });
}
