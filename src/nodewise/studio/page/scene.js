// A canvas that can be moved and zoomed, by mouse, touch and keys, and drawn in animation frames only.
// `frame` says which part of the world fills it.

const CLICK = 5; // a pointer that moves less than this, in pixels, has clicked
const CLOSEST = 60;
const MARGIN = 26;
const SQUEEZE = 1.7; // how much wider or taller than in the world things may be drawn to fill the canvas

export class Scene {
  /**
   * @param {HTMLCanvasElement} canvas where to draw.
   * @param {object} parts
   * @param {(context: CanvasRenderingContext2D, scene: Scene) => void} parts.paint draws everything, in pixels.
   * @param {(x: number, y: number, reach: number) => number} parts.find the item near a point of the canvas, or -1.
   * @param {(item: number, x: number, y: number) => void} parts.hover told what is under the pointer (-1: nothing) and
   *   the point in the window.
   * @param {(item: number) => void} parts.pick told what was clicked.
   * @param {() => void} [parts.sized] told when the canvas has another size.
   * @param {() => boolean} [parts.lassoing] whether a drag draws a line around items and moves nothing.
   * @param {(line: [number, number][]) => void} [parts.lassoed] told the line once it is drawn.
   * @param {(item: number) => void} [parts.take] told which item the space bar was pressed for.
   */
  constructor(canvas, parts) {
    this.canvas = canvas;
    this.parts = parts;
    [this.width, this.height, this.pending, this.x, this.y] = [0, 0, 0, 0, 0];
    [this.scale, this.fx, this.fy] = [1, 1, 1];
    this.hovered = -1;
    this.aiming = false;
    this.box = [-1, 1, -1, 1]; // left, right, top, bottom of what is framed
    this.pointers = new Map();
    this.moved = 0;
    this.line = []; // around what is being chosen
    this.context = canvas.getContext("2d");
    canvas.tabIndex = 0;
    new ResizeObserver(() => this.measure()).observe(canvas);
    document.addEventListener("theme", () => this.redraw());
    this.listen();
  }

  /** Let these points of the world fill the canvas. */
  frame(xs, ys) {
    const range = (values) => [
      values.reduce((a, b) => Math.min(a, b), Infinity),
      values.reduce((a, b) => Math.max(a, b), -Infinity),
    ];
    this.box = xs.length ? [...range(xs), ...range(ys)] : [-1, 1, -1, 1];
    this.shape();
    this.fit();
  }

  /**
   * The factors from the world to half the canvas's height, so that the box fills it without being squeezed too much.
   */
  shape() {
    const [left, right, top, bottom] = this.box;
    const wide = (this.width - 2 * MARGIN) / Math.max(1, this.height - 2 * MARGIN);
    this.fx = wide / Math.max(0.3, (right - left) / 2);
    this.fy = 1 / Math.max(0.3, (bottom - top) / 2);
    this.fx = Math.min(this.fx, SQUEEZE * this.fy);
    this.fy = Math.min(this.fy, SQUEEZE * this.fx);
  }

  /** Fit everything into the canvas again. */
  fit() {
    Object.assign(this, { scale: 1, x: 0, y: 0 });
    this.redraw();
  }

  /** Draw in the next frame; many calls make one drawing. */
  redraw() {
    if (this.pending === 0)
      this.pending = requestAnimationFrame(() => {
        this.pending = 0;
        this.draw();
      });
  }

  draw() {
    if (this.width === 0 || this.height === 0) return;
    const ratio = Math.min(3, devicePixelRatio || 1);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, this.width, this.height);
    this.parts.paint(this.context, this);
    // How the world lies on the canvas, for those who drive the page by a program.
    this.canvas.dataset.zoom = this.scale.toFixed(2);
    this.canvas.dataset.view = [this.toX(0), this.toY(0), this.toX(1) - this.toX(0), this.toY(1) - this.toY(0)]
      .map((number) => number.toFixed(2))
      .join(" ");
  }

  measure() {
    const ratio = Math.min(3, devicePixelRatio || 1);
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.shape();
    this.parts.sized?.();
    this.redraw();
  }

  unit() {
    return Math.max(1, this.height / 2 - MARGIN) * this.scale;
  }
  toX(x) {
    return this.width / 2 + ((x - (this.box[0] + this.box[1]) / 2) * this.fx - this.x) * this.unit();
  }
  toY(y) {
    return this.height / 2 + ((y - (this.box[2] + this.box[3]) / 2) * this.fy - this.y) * this.unit();
  }
  fromX(x) {
    return ((x - this.width / 2) / this.unit() + this.x) / this.fx + (this.box[0] + this.box[1]) / 2;
  }
  fromY(y) {
    return ((y - this.height / 2) / this.unit() + this.y) / this.fy + (this.box[2] + this.box[3]) / 2;
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const before = this.unit();
    this.scale = Math.max(0.6, Math.min(CLOSEST, this.scale * factor));
    const after = this.unit();
    this.x += (x - this.width / 2) * (1 / before - 1 / after);
    this.y += (y - this.height / 2) * (1 / before - 1 / after);
    this.keep();
  }

  pan(x, y) {
    this.x -= x / this.unit();
    this.y -= y / this.unit();
    this.keep();
  }

  /** The world stays in sight. */
  keep() {
    const wide = 1.2 * Math.max(1, this.width / Math.max(1, this.height));
    this.x = Math.max(-wide, Math.min(wide, this.x));
    this.y = Math.max(-1.2, Math.min(1.2, this.y));
    this.redraw();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.pointers.set(event.pointerId, this.at(event));
      this.moved = this.pointers.size > 1 ? CLICK + 1 : 0;
      this.line = [];
      this.aiming = false;
      try {
        canvas.setPointerCapture(event.pointerId);
      } catch {
        /* a pointer that is gone already */
      }
    });
    canvas.addEventListener("pointermove", (event) =>
      this.pointers.has(event.pointerId) ? this.drag(event) : this.over(event),
    );
    canvas.addEventListener("pointerup", (event) => {
      const held = this.pointers.delete(event.pointerId);
      if (held && this.line.length > 2) {
        this.parts.lassoed(this.line);
        this.line = [];
        this.redraw();
        return;
      }
      if (!held || this.moved > CLICK) return;
      const { x, y } = this.at(event);
      const item = this.parts.find(x, y, event.pointerType === "touch" ? 22 : 9);
      if (item >= 0) {
        canvas.blur();
        this.parts.pick(item);
      }
    });
    for (const type of ["pointercancel", "lostpointercapture"])
      canvas.addEventListener(type, (/** @type {PointerEvent} */ event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener(
      "wheel",
      (event) => {
        const page = document.scrollingElement;
        // the page itself wants to scroll
        if (page.scrollHeight > page.clientHeight && !event.ctrlKey && document.activeElement !== canvas) return;
        event.preventDefault();
        const { x, y } = this.at(event);
        this.zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY * (event.deltaMode === 1 ? 16 : 1))) / 240), x, y);
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => this.typed(event));
    canvas.addEventListener("blur", () => {
      this.aiming = false;
      this.leave();
      this.redraw();
    });
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    const now = this.at(event);
    this.pointers.set(event.pointerId, now);
    this.moved += Math.hypot(now.x - before.x, now.y - before.y);
    if (this.moved <= CLICK) return;
    this.leave();
    if (this.pointers.size === 1 && this.parts.lassoing?.()) {
      this.line.push([now.x, now.y]);
      this.redraw();
      return;
    }
    this.line = [];
    if (this.pointers.size === 1) {
      this.pan(now.x - before.x, now.y - before.y);
      return;
    }
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
    const was = Math.hypot(before.x - other.x, before.y - other.y);
    const is = Math.hypot(now.x - other.x, now.y - other.y);
    this.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    if (was > 8 && is > 8) this.zoom(is / was, (now.x + other.x) / 2, (now.y + other.y) / 2);
  }

  over(event) {
    const { x, y } = this.at(event);
    const item = this.parts.find(x, y, 9);
    this.canvas.classList.toggle("aimed", item >= 0);
    if (item !== this.hovered || item >= 0) {
      this.hovered = item;
      this.parts.hover(item, event.clientX, event.clientY);
      this.redraw();
    }
  }

  leave() {
    if (this.hovered >= 0) {
      this.hovered = -1;
      this.parts.hover(-1, 0, 0);
      this.redraw();
    }
  }

  /**
   * The keys of a picture that has the focus; the middle is marked, and Enter looks at the node that is nearest to it.
   */
  typed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 48;
    const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[
      event.key
    ];
    if (moves) this.pan(...moves);
    else if (event.key === "+" || event.key === "=") this.zoom(1.35);
    else if (event.key === "-") this.zoom(1 / 1.35);
    else if (event.key === "0" || event.code === "Digit0") this.fit();
    else if (event.key === " " && this.parts.lassoing?.()) {
      if (this.hovered >= 0 && !event.repeat) this.parts.take(this.hovered);
    } else if (event.key === "Enter") {
      if (this.hovered >= 0 && !event.repeat) this.parts.pick(this.hovered);
    } else return;
    event.preventDefault();
    event.stopPropagation();
    this.aiming = true;
    const box = this.canvas.getBoundingClientRect();
    this.hovered = this.parts.find(
      this.width / 2,
      this.height / 2,
      Math.max(40, Math.min(this.width, this.height) / 3),
    );
    this.parts.hover(this.hovered, box.left + this.width / 2, box.top + this.height / 2);
    this.redraw();
  }

  /** The line around what is being chosen. */
  trail(context, colour) {
    if (this.line.length < 2) return;
    context.beginPath();
    for (const [x, y] of this.line) context.lineTo(x, y);
    context.closePath();
    context.globalAlpha = 0.12;
    context.fillStyle = colour;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = colour;
    context.lineWidth = 2;
    context.setLineDash([6, 4]);
    context.stroke();
    context.setLineDash([]);
  }

  /** The cross in the middle, while the picture is moved by keys. */
  cross(context, colour) {
    if (!this.aiming) return;
    const [x, y] = [this.width / 2, this.height / 2];
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const [dx, dy] of [
      [1, 0],
      [-1, 0],
      [0, 1],
      [0, -1],
    ]) {
      context.moveTo(x + 5 * dx, y + 5 * dy);
      context.lineTo(x + 13 * dx, y + 13 * dy);
    }
    context.stroke();
  }
}
