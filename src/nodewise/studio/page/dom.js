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

/**
 * What puts the focus back where it was inside an element, once that is drawn anew: on the same control of the same
 * row.
 * Null where the focus is elsewhere.
 */
export function keepFocus(element) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  if (active === null || !element.contains(active)) return null;
  const row = /** @type {HTMLElement | null} */ (active.closest("[data-node]"));
  const named = (each) => each.getAttribute("aria-label") ?? each.textContent;
  const name = named(active);
  return () => {
    const place = row === null ? element : element.querySelector(`[data-node="${row.dataset.node}"]`);
    const alike = [...(place?.querySelectorAll(active.tagName) ?? [])];
    const same = alike.find((each) => named(each) === name) ?? (row === null ? undefined : alike[0]);
    const next = same ?? element.closest("[tabindex]");
    /** @type {HTMLElement | null} */ (next)?.focus({ preventScroll: true });
  };
}

const drawn = new WeakMap();

/**
 * Replace what is inside an element only if `facts` differ from last time: a button that is being pressed must not be
 * taken away.
 */
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

/** A file's size, in words. */
export const bytes = (size) =>
  size < 1e6
    ? `${Math.max(1, Math.round(size / 1e3)).toLocaleString("en")} kB`
    : `${(size / 1e6).toFixed(size < 1e7 ? 1 : 0)} MB`;

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

/** What a row is called: by its title, its name, or its number, counted from 1. */
export const called = ({ node, name, title = null }, length = 90) =>
  short(title || (name === null || name === undefined || name === String(node) ? `Row ${node + 1}` : name), length);

/** The first letter large, unless it begins the name of a file. */
export const capital = (text) => (/^\S*[._\d]\S/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1));

/** Words as a sentence: it begins large and ends with a full stop. */
export const sentence = (text) => text && `${capital(text)}${/[.!?…]$/.test(text) ? "" : "."}`;

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
    timer = setTimeout(
      () => {
        timer = null;
        action();
      },
      Math.max(0, Math.min(quiet, first + most - now)),
    );
  };
}

/** A value kept in this browser. */
export const kept = {
  read(name, otherwise) {
    try {
      return localStorage.getItem(`nodewise.${name}`) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  write(name, value) {
    try {
      localStorage.setItem(`nodewise.${name}`, value);
    } catch {
      /* no storage: it is forgotten */
    }
  },
};

// A few line icons, drawn here so that they look the same everywhere.
const PATHS = {
  person: ["M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Z", "M4.5 20.5c.8-4 3.9-6 7.5-6s6.7 2 7.5 6"],
  export: ["M12 3.5v11", "M7.5 10.5 12 15l4.500-4.500", "M4.500 16v2.500a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2V16"],
  auto: [
    "M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17Z",
    "M12 3.500v17",
    "M12 8l5-2.500M12 12.500l8-4M12 17l7-3.500",
  ],
  dark: ["M20 14.200A8.300 8.300 0 0 1 9.800 4 8.300 8.300 0 1 0 20 14.200Z"],
  light: [
    "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Z",
    "M12 2.500v2M12 19.500v2M2.500 12h2M19.500 12h2",
    "M5.300 5.300l1.400 1.400M17.300 17.300l1.400 1.400M5.300 18.700l1.400-1.400M17.300 6.700l1.400-1.400",
  ],
  help: [
    "M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17Z",
    "M9.600 9.600a2.500 2.500 0 1 1 3.700 2.200c-.9.500-1.300 1-1.300 2",
    "M12 16.800v.1",
  ],
  file: ["M6 3.500h8l4.500 4.500v12.500H6Z", "M13.500 3.500V8.500h5", "M9 13h6.500M9 16.500h6.500"],
  table: ["M4 5h16v14H4Z", "M4 10h16M4 14.500h16M10 5v14"],
  model: ["M4 5h16v11h-9l-4.500 4v-4H4Z", "M8.500 10.500v.1M12 10.500v.1M15.500 10.500v.1"],
  tag: ["M4 4h8l8 8-8 8-8-8Z", "M8 8v.1"],
  close: ["M6 6l12 12M18 6 6 18"],
  tick: ["M5 12.500l4.500 4.500L19 7.500"],
  fit: ["M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5"],
  lasso: [
    "M12 4c5 0 8.500 2.300 8.500 5.500S17 15 12 15s-8.500-2.300-8.500-5.500S7 4 12 4Z",
    "M8 14.500c-1.500 1-1.500 3 0 3.500s1.500 2.500-.5 3",
  ],
  gear: [
    "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z",
    "M12 3v3M12 18v3M3 12h3M18 12h3",
    "M5.600 5.600l2.200 2.200M16.200 16.200l2.200 2.200M5.600 18.400l2.200-2.200M16.200 7.800l2.200-2.200",
  ],
  plus: ["M12 5v14M5 12h14"],
  minus: ["M5 12h14"],
  back: ["M19 12H5M11 6l-6 6 6 6"],
  out: ["M8 16 17 7M9.500 7H17v7.500"],
};

/** An icon by its name; it says nothing to screen readers. */
export function icon(name) {
  return s(
    "svg",
    {
      class: "icon",
      viewBox: "0 0 24 24",
      "aria-hidden": "true",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": "2",
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    },
    PATHS[name].map((path) => s("path", { d: path })),
  );
}
