// SPDX-License-Identifier: Apache-2.0
// What is under the pointer, hiding a curve, zoom, sorting of tables; without it, the page still shows everything.
// Numbers read back from a drawing are known to a hundredth of its units, so that the readout says "about".
"use strict";
document.documentElement.classList.add("js");
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    const key = cell => cell.dataset.key ?? cell.textContent;
    const sort = () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const number = text => { const value = parseFloat(text); return Number.isNaN(value) ? -Infinity : value; };
      const numeric = head.classList.contains("n");
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => {
        const x = key(a.cells[column]), y = key(b.cells[column]);
        const order = numeric ? number(x) - number(y) : x < y ? -1 : x > y ? 1 : 0;
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows);
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", event => { if (event.key === "Enter") sort(); });
  });
}
// With several trials a click on the legend hides a trial in all figures: its name begins that of each of its curves.
const several = document.body.classList.contains("several");
const hideable = new Map();
const toggle = key => {
  const parts = hideable.get(key);
  const off = !parts[0][0].classList.contains("hidden");
  for (const [curve, ...entry] of parts) {
    curve.classList.toggle("hidden", off);
    entry.forEach(one => one.classList.toggle("off", off));
  }
};
for (const figure of document.querySelectorAll("figure[data-axes]")) {
  const svg = figure.querySelector("svg");
  const axis = svg.querySelector("path.axis");
  const frame = /^M([-\d.]+) ([-\d.]+)V([-\d.]+)H([-\d.]+)/.exec(axis.getAttribute("d"));
  if (!frame) continue;
  const [left, top, bottom, right] = frame.slice(1).map(Number);
  const ends = figure.dataset.axes.split(" ");
  const [x0, x1, y0, y1] = ends.slice(0, 4).map(Number);
  const log = ends[4] === "log";
  const curves = [...svg.querySelectorAll("g")].filter(group =>
    group.firstElementChild?.tagName === "title" && group.querySelector(":scope > .curve, :scope > .dot, :scope > .mark"));
  const nameOf = curve => curve.firstElementChild.textContent;
  const signs = [...svg.querySelectorAll("g[transform] > path.curve:not(.faint)")].map(path => path.parentNode)
    .filter(sign => sign.nextElementSibling);
  const named = curves.length === 1 ? [] : curves.slice(curves.length - Math.min(signs.length, curves.length));
  named.forEach((curve, i) => {
    const entry = [signs[i], signs[i].nextElementSibling];
    const key = several ? nameOf(curve).split(", ")[0] : figure.id + i;
    hideable.set(key, [...hideable.get(key) ?? [], [curve, ...entry]]);
    for (const part of entry) {
      part.classList.add("legend-entry");
      part.addEventListener("click", () => toggle(key));
    }
  });
  const readout = document.createElement("p");
  readout.className = "readout";
  readout.hidden = true;
  figure.append(readout);
  const place = event => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(axis.getScreenCTM().inverse());
    return point;
  };
  let points;
  const all = () => points ??= curves.map(curve => {
    const found = [];
    for (const path of curve.querySelectorAll(":scope > .curve, :scope > .dot"))
      for (const [, command, x, y] of path.getAttribute("d").matchAll(/([Ml])([-\d.]+) ([-\d.]+)/g)) {
        const [beforeX, beforeY] = command === "l" ? found.at(-1) : [0, 0];
        found.push([beforeX + Number(x), beforeY + Number(y)]);
      }
    return found;
  });
  const box = svg.viewBox.baseVal;
  const whole = [box.x, box.y, box.width, box.height].join(" ");
  let start = null;
  const valueAt = y => {
    const part = (bottom - y) / (bottom - top);
    const value = log ? Math.exp(Math.log(y0) + part * (Math.log(y1) - Math.log(y0))) : y0 + part * (y1 - y0);
    return (y <= top ? "above " : y >= bottom && y0 !== 0 && !log ? "below " : "about ") + Number(value.toPrecision(3));
  };
  const mostRead = 10;
  svg.addEventListener("pointermove", event => {
    const at = place(event);
    const read = [];
    all().forEach((of, i) => {
      if (curves[i].classList.contains("hidden")) return;
      let best = null;
      for (const [x, y] of of)
        if (best === null || Math.abs(x - at.x) < Math.abs(best.x - at.x)) best = { x, y, i };
      if (best !== null && Math.abs(best.x - at.x) < 20) read.push(best);
    });
    readout.hidden = read.length === 0 || at.y < top || at.y > bottom;
    if (readout.hidden) return;
    const nearest = (a, b) => Math.abs(a.x - at.x) - Math.abs(b.x - at.x) || Math.abs(a.y - at.y) - Math.abs(b.y - at.y);
    read.sort(nearest);
    const lines = [`step ${Math.round(x0 + (read[0].x - left) / (right - left) * (x1 - x0))}`];
    const shown = read.sort((a, b) => Math.abs(a.y - at.y) - Math.abs(b.y - at.y)).slice(0, mostRead).sort((a, b) => a.y - b.y);
    for (const { y, i } of shown) {
      const name = nameOf(curves[i]);
      lines.push((name.length > 60 ? name.slice(0, 58) + "…" : name) + ": " + valueAt(y));
    }
    if (read.length > mostRead) lines.push(`and ${read.length - mostRead} more`);
    readout.textContent = lines.join("\n");
  });
  svg.addEventListener("pointerleave", () => { readout.hidden = true; });
  svg.addEventListener("pointerdown", event => { start = event.button === 0 ? place(event) : null; });
  svg.addEventListener("pointerup", event => {
    const end = place(event);
    if (start && Math.abs(end.x - start.x) > 12 && Math.abs(end.y - start.y) > 12) {
      const corner = [Math.min(start.x, end.x) + 12, Math.min(start.y, end.y) + 12];
      svg.setAttribute("viewBox", [...corner, Math.abs(end.x - start.x), Math.abs(end.y - start.y)].join(" "));
    }
    start = null;
  });
  svg.addEventListener("dblclick", () => svg.setAttribute("viewBox", whole));
}
