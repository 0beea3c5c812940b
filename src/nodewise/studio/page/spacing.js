// Room for nodes and names: nodes are moved until they can be told from each other, names are written where
// nothing else is.

const ROUNDS = 40;
const FURTHER = [0, 10, 20, 30]; // pixels that a name which must be read may stand further from its node
const CENTRE = 20; // how much worse it is to write over the centre than over any other node or name

/** Push overlapping circles away from each other, in place; the first one, the centre, stays where it is. */
export function pushApart(spots, reaches, width, height) {
  for (let round = 0; round < ROUNDS; round++) {
    let moved = false;
    for (let one = 0; one < spots.length; one++) {
      for (let other = one + 1; other < spots.length; other++) {
        let dx = spots[other][0] - spots[one][0];
        let dy = spots[other][1] - spots[one][1];
        const wanted = reaches[one] + reaches[other];
        if (Math.abs(dx) >= wanted || Math.abs(dy) >= wanted) continue;
        let away = Math.hypot(dx, dy);
        if (away >= wanted) continue;
        if (away < 0.01) {
          dx = Math.cos(other * 2.4);
          dy = Math.sin(other * 2.4);
          away = 1;
        }
        const push = (wanted - away) / away / (one === 0 ? 1 : 2);
        moved = true;
        if (one !== 0) {
          spots[one][0] -= dx * push;
          spots[one][1] -= dy * push;
        }
        spots[other][0] += dx * push;
        spots[other][1] += dy * push;
      }
    }
    for (const spot of spots) {
      spot[0] = Math.max(14, Math.min(width - 14, spot[0]));
      spot[1] = Math.max(14, Math.min(height - 14, spot[1]));
    }
    if (!moved) break;
  }
}

/** The area that two boxes share. */
function shared([left, top, right, bottom], [otherLeft, otherTop, otherRight, otherBottom]) {
  const across = Math.min(right, otherRight) - Math.max(left, otherLeft);
  const down = Math.min(bottom, otherBottom) - Math.max(top, otherTop);
  return Math.max(0, across) * Math.max(0, down);
}

/**
 * Write names below, above or beside their nodes; one for which there is no room is left out, the tooltip tells it.
 * `order`: whose names are written first; `must`: whether an item's name is written all the same, somewhat further away
 * or, if need be, over others: over as little of them as can be, and of the centre last.
 */
export function writeNames(
  context,
  colours,
  names,
  spots,
  reaches,
  width,
  height,
  order = names.keys(),
  must = (_item) => false,
) {
  const taken = spots.map(([x, y], item) => [
    x - reaches[item],
    y - reaches[item],
    x + reaches[item],
    y + reaches[item],
  ]);
  const covered = (box) => taken.reduce((sum, other, item) => sum + shared(box, other) * (item === 0 ? CENTRE : 1), 0);
  context.textAlign = "left";
  context.textBaseline = "top";
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = colours.panel;
  context.fillStyle = colours.muted;
  for (const item of order) {
    const name = names[item];
    if (!name) continue;
    const [x, y] = spots[item];
    const gap = reaches[item] + (item === 0 ? 9 : 4);
    const long = context.measureText(name).width;
    const steps = must(item) ? FURTHER : [0];
    const places = steps.flatMap((step) => [
      [x - long / 2, y + gap + step],
      [x - long / 2, y - gap - step - 12],
      [x + gap + step, y - 6],
      [x - gap - step - long, y - 6],
    ]);
    const boxes = places
      .map(([left, top]) => [left, top, left + long, top + 13])
      .filter((box) => box[0] >= 2 && box[1] >= 2 && box[2] <= width - 2 && box[3] <= height - 2);
    const crowded = boxes.map(covered);
    const best = crowded.indexOf(Math.min(...crowded));
    if (best < 0 || (crowded[best] > 0 && !must(item))) continue;
    taken.push(boxes[best]);
    context.strokeText(name, boxes[best][0], boxes[best][1]);
    context.fillText(name, boxes[best][0], boxes[best][1]);
  }
}
