// A few line icons, drawn here so that they look the same everywhere.

import { s } from "./dom.js";

const PATHS = {
  person: ["M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Z", "M4.5 20.5c.8-4 3.9-6 7.5-6s6.7 2 7.5 6"],
  export: ["M12 3.5v11", "M7.5 10.5 12 15l4.500-4.500", "M4.500 16v2.500a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2V16"],
  auto: ["M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17Z", "M12 3.500v17", "M12 8l5-2.500M12 12.500l8-4M12 17l7-3.500"],
  dark: ["M20 14.200A8.300 8.300 0 0 1 9.800 4 8.300 8.300 0 1 0 20 14.200Z"],
  light: ["M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Z", "M12 2.500v2M12 19.500v2M2.500 12h2M19.500 12h2M5.300 5.300l1.400 1.400M17.300 17.300l1.400 1.400M5.300 18.700l1.400-1.400M17.300 6.700l1.400-1.400"],
  help: ["M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17Z", "M9.600 9.600a2.500 2.500 0 1 1 3.700 2.200c-.9.500-1.300 1-1.300 2", "M12 16.800v.1"],
  file: ["M6 3.500h8l4.500 4.500v12.500H6Z", "M13.500 3.500V8.500h5", "M9 13h6.500M9 16.500h6.500"],
  close: ["M6 6l12 12M18 6 6 18"],
  tick: ["M5 12.500l4.500 4.500L19 7.500"],
  fit: ["M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5"],
  plus: ["M12 5v14M5 12h14"],
  minus: ["M5 12h14"],
  back: ["M19 12H5M11 6l-6 6 6 6"],
  out: ["M8 16 17 7M9.500 7H17v7.500"],
};

/** An icon by its name; it says nothing to screen readers. */
export function icon(name) {
  return s("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", fill: "none", stroke: "currentColor", "stroke-width": "2", "stroke-linecap": "round", "stroke-linejoin": "round" },
    PATHS[name].map((path) => s("path", { d: path })));
}
