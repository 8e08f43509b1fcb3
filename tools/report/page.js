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
  const signs = [...svg.querySelectorAll("g[transform] > path.curve:not(.faint)")].map(path => path.parentNode)
    .filter(sign => sign.nextElementSibling);
  const named = curves.length === 1 ? [] : curves.slice(curves.length - Math.min(signs.length, curves.length));
  named.forEach((curve, i) => {
    const entry = [signs[i], signs[i].nextElementSibling];
    for (const part of entry) {
      part.classList.add("legend-entry");
      part.addEventListener("click", () => {
        const off = curve.classList.toggle("hidden");
        entry.forEach(one => one.classList.toggle("off", off));
      });
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
      for (const match of path.getAttribute("d").matchAll(/[ML]([-\d.]+) ([-\d.]+)/g))
        found.push([Number(match[1]), Number(match[2])]);
    return found;
  });
  const box = svg.viewBox.baseVal;
  const whole = [box.x, box.y, box.width, box.height].join(" ");
  let start = null;
  svg.addEventListener("pointermove", event => {
    const at = place(event);
    let best = null, near = Infinity;
    all().forEach((of, i) => {
      if (curves[i].classList.contains("hidden")) return;
      for (const [x, y] of of) {
        const distance = Math.abs(x - at.x) * 3 + Math.abs(y - at.y);
        if (distance < near) { near = distance; best = [i, x, y]; }
      }
    });
    readout.hidden = best === null || near > 90;
    if (readout.hidden) return;
    const step = Math.round(x0 + (best[1] - left) / (right - left) * (x1 - x0));
    const part = (bottom - best[2]) / (bottom - top);
    const value = log ? Math.exp(Math.log(y0) + part * (Math.log(y1) - Math.log(y0))) : y0 + part * (y1 - y0);
    const name = curves[best[0]].firstElementChild.textContent;
    readout.textContent = (name.length > 80 ? name.slice(0, 78) + "…" : name) + ": about " +
      Number(value.toPrecision(3)) + " at step " + step;
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
