// Building elements. Whatever comes from a graph goes in as a text node: nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `h("button", { class: "big", on: { click } }, "Save")`. Children are nodes, texts or nothing. */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function s(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [type, listener] of Object.entries(value)) element.addEventListener(type, listener);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "css") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else element.setAttribute(name, value === true ? "" : value);
  }
  put(element, ...children);
  return element;
}

/** Append what is there; false, null and undefined are left out. */
export function put(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** Replace everything inside an element. */
export function show(element, ...children) {
  element.replaceChildren();
  return put(element, ...children);
}

const drawn = new WeakMap();

/** Replace what is inside an element only if `facts` differ from last time: a button that is being pressed must not be taken away. */
export function renew(element, facts, build) {
  const key = JSON.stringify(facts);
  if (drawn.get(element) === key) return;
  drawn.set(element, key);
  show(element, build());
}

export const byId = (id) => document.getElementById(id);

/** Say something to those who do not see the page. */
export function announce(text) {
  const live = byId("announcer");
  if (live) live.textContent = text;
}

/** A key, as it is drawn in buttons and in the help. */
export const key = (text) => h("kbd", { "aria-hidden": "true" }, text);

export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;

export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** A text cut to a length, at a word's end where there is one near. */
export function short(text, length) {
  const line = String(text).replace(/\s+/g, " ").trim();
  if (line.length <= length) return line;
  const cut = line.slice(0, length - 1);
  const blank = cut.lastIndexOf(" ");
  return `${blank > length * 0.6 ? cut.slice(0, blank) : cut}…`;
}

/** When something happened, in words. */
export function ago(seconds) {
  const passed = Math.max(0, Date.now() / 1000 - seconds);
  if (passed < 45) return "now";
  if (passed < 3600) return `${Math.round(passed / 60)} min ago`;
  if (passed < 86400) return `${Math.round(passed / 3600)} h ago`;
  return new Date(seconds * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}

/** Call it once things have been quiet for a while, and at the latest after `most` milliseconds. */
export function settle(action, quiet, most = quiet) {
  let timer = null;
  let first = 0;
  return () => {
    const now = performance.now();
    if (timer === null) first = now;
    else clearTimeout(timer);
    timer = setTimeout(() => { timer = null; action(); }, Math.max(0, Math.min(quiet, first + most - now)));
  };
}

/** A value kept in this browser. */
export const kept = {
  read(name, otherwise) { try { return localStorage.getItem(`nodewise.${name}`) ?? otherwise; } catch { return otherwise; } },
  write(name, value) { try { localStorage.setItem(`nodewise.${name}`, value); } catch { /* no storage: it is forgotten */ } },
};
