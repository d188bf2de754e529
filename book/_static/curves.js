// Curves of error rates, read off at a false positive rate that the reader moves: a table under a
// slider, made from the curves' own numbers. Without this script the figure stands alone.
"use strict";

// The value of a curve at a rate: on the straight line between the two points beside it.
function readOff(xs, ys, x) {
  if (!ys || x < xs[0]) return null;
  const above = xs.findIndex((one) => one >= x);
  if (above < 0) return ys[ys.length - 1];
  if (above === 0 || xs[above] === x) return ys[above];
  const share = (x - xs[above - 1]) / (xs[above] - xs[above - 1]);
  return ys[above - 1] + share * (ys[above] - ys[above - 1]);
}

function percent(rate) {
  const value = 100 * rate;
  return `${value < 9.995 ? value.toPrecision(value < 0.995 ? 2 : 3) : value.toFixed(1)}%`;
}

// No interval where there is none, or none wide enough to be seen: the curve is computed exactly.
function interval(low, high) {
  return low === null || low === high ? "no interval" : `${percent(low)} to ${percent(high)}`;
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A number's place on the axis, in percent: rates that matter are small, so it is logarithmic.
function placeOn(floor) {
  return (rate) => 100 * Math.min(1, Math.max(0, 1 - Math.log10(Math.max(rate, floor)) / Math.log10(floor)));
}

function drawRow(place, chance, value, low, high) {
  const line = (from, to, y1, y2, kind) =>
    `<line x1="${from}%" x2="${to}%" y1="${y1}" y2="${y2}" class="${kind}"/>`;
  const at = place(chance);
  return `<svg class="forest-plot" width="100%" height="24" aria-hidden="true">${line(at, at, 0, 24, "f-chance")}${
    low === null ? "" : line(place(low), place(high), 12, 12, "f-interval")
  }<circle cx="${place(value)}%" cy="12" r="3.6" class="f-point"/></svg>`;
}

function makeReader(holder) {
  const { rate, panels } = JSON.parse(holder.dataset.curves);
  for (const panel of panels) for (const curve of panel.curves) curve.fpr ??= panel.fpr;
  const all = panels.flatMap((panel) => panel.curves);
  const floor = Math.max(...all.map((curve) => curve.fpr.find((x) => x > 0)));
  const grid = [...new Set(all.flatMap((curve) => curve.fpr))].filter((x) => x >= floor && x < 1).sort((a, b) => a - b);
  const nearest = (x) => grid.reduce((best, one, i) => (Math.abs(one - x) < Math.abs(grid[best] - x) ? i : best), 0);
  const place = placeOn(Math.min(floor, 0.01));

  const slider = element("input", { type: "range", min: 0, max: grid.length - 1, step: 1, value: nearest(0.01) });
  const shown = element("output", {});
  const setting = element("select", {}, ...panels.map(({ name }, i) => element("option", { value: i }, name)));
  const body = element("tbody", {});
  const number = element("th", { scope: "col" }, `${rate[0].toUpperCase()}${rate.slice(1)}, 95% interval`);
  const ticks = [0.0001, 0.001, 0.01, 0.1, 1].filter((x) => x >= Math.min(floor, 0.01) * 0.99);
  const scale = element("div", {}, ...ticks.map((x) => {
    const tick = element("span", {}, `${100 * x}%`);
    tick.style.left = `${place(x)}%`;
    return tick;
  }));
  const head = element("thead", {}, element("tr", {},
    element("th", { scope: "col" }, "Curve"), element("td", { class: "forest-ticks", "aria-hidden": true }, scale),
    number));

  function show() {
    const x = grid[slider.value];
    const words = percent(x);
    shown.textContent = words;
    slider.setAttribute("aria-valuetext", words);
    const chance = rate.startsWith("true") ? x : 1 - x;
    body.replaceChildren(...panels[setting.value].curves.map((curve) => {
      const [value, low, high] = ["value", "low", "high"].map((key) => readOff(curve.fpr, curve[key], x));
      const picture = element("td", { class: "forest-cell" });
      if (value !== null) picture.innerHTML = drawRow(place, chance, value, low, high);
      return element("tr", {}, element("th", { scope: "row" }, curve.name), picture,
        element("td", {}, value === null ? "–" : `${percent(value)} `, element("small", {}, interval(low, high))));
    }));
  }

  const controls = element("p", { class: "curves-controls" },
    element("label", {}, "False positive rate ", slider), " ", shown);
  if (panels.length > 1) controls.append(element("label", {}, "Setting ", setting));
  slider.addEventListener("input", show);
  setting.addEventListener("change", show);
  holder.append(controls, element("div", { class: "exhibit-scroll", tabindex: 0, role: "group", "aria-label": "Rates read off" },
    element("table", { class: "forest curves-table" },
      element("caption", { class: "visually-hidden" }, "Rates at the false positive rate chosen"), head, body)));
  show();
  holder.hidden = false;
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-curves]").forEach(makeReader);
});
