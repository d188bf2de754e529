// The picture of two groups of scores and a threshold between them: the game's and the first page's.
"use strict";

Object.assign(game, {
  element(name, attributes, text = "") {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return node;
  },

  path(points) {
    return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
  },

  percent(rate) {
    if (rate > 0 && rate < 1e-5) return "under 0.001%";
    return `${(100 * rate).toFixed(rate < 0.001 ? 3 : 2)}%`;
  },

  // Lowest and highest score of the drawing, and its margins; the threshold's slider has the same ends.
  axis: [-4, 8, 14, 24],

  // The threshold is taken hold of anywhere in its picture, by mouse or finger; keys move its slider.
  hold(svg, change) {
    const [low, high, left] = game.axis;
    let isHeld = false;
    const move = (event) => {
      const box = svg.getBoundingClientRect();
      const { width } = svg.viewBox.baseVal;
      const share = (((event.clientX - box.left) * width) / box.width - left) / (width - 2 * left);
      change(low + Math.round(100 * Math.min(1, Math.max(0, share)) * (high - low)) / 100);
    };
    svg.classList.add("held");
    svg.addEventListener("pointerdown", (event) => {
      isHeld = true;
      svg.setPointerCapture(event.pointerId);
      move(event);
    });
    svg.addEventListener("pointermove", (event) => isHeld && move(event));
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { isHeld = false; });
  },

  // `others` are members' scores under other attacks, drawn faintly behind.
  drawScores(svg, { t, mu, sigma }, others = []) {
    const { element, path } = game;
    const [low, high, left, top] = game.axis;
    const height = Number(svg.dataset.height ?? 250);
    const bottom = height - 45;
    // One unit of the drawing is one pixel, so that its text keeps its size on a phone; in full screen
    // it is more.
    const scale = Number(getComputedStyle(svg).getPropertyValue("--scale")) || 1;
    const width = Math.max(280, svg.getBoundingClientRect().width / scale);
    const right = width - left;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const peak = 0.42 * Math.max(1, 1 / sigma);
    const x = (value) => left + ((value - low) / (high - low)) * (right - left);
    const y = (value) => bottom - (value / peak) * (bottom - top);
    const grid = Array.from({ length: 241 }, (_, i) => low + ((high - low) * i) / 240);
    const curve = (m, s, from) =>
      grid.filter((v) => v >= from).map((v) => [x(v), y(game.density(v, m, s))]);
    const area = (m, s) =>
      `${path([[x(t), bottom], [x(t), y(game.density(t, m, s))], ...curve(m, s, t)])}L${right} ${bottom}Z`;
    const ticks = [-4, -2, 0, 2, 4, 6, 8].map((v) =>
      element("text", { x: x(v), y: bottom + 22, class: "game-tick middle" }, String(v).replace("-", "−")),
    );
    svg.replaceChildren(
      ...others.map((one) => element("path", { d: path(curve(one.mu, one.sigma, low)), class: "game-line other" })),
      element("path", { d: area(0, 1), class: "game-area non-member" }),
      element("path", { d: area(mu, sigma), class: "game-area member" }),
      element("path", { d: path(curve(0, 1, low)), class: "game-line non-member" }),
      element("path", { d: path(curve(mu, sigma, low)), class: "game-line member" }),
      element("path", { d: path([[left, bottom], [right, bottom]]), class: "game-axis" }),
      element("path", { d: path([[x(t), top], [x(t), bottom]]), class: "game-threshold" }),
      element("circle", { cx: x(t), cy: bottom, r: 8, class: "game-dot" }),
      ...ticks,
      element("text", { x: x(t) + (t > 6 ? -6 : 6), y: top + 6, class: `game-tick${t > 6 ? " end" : ""}` }, "t"),
      element("text", { x: left, y: 14, class: "game-label non-member" }, "╌ non-members"),
      element("text", { x: (left + right) / 2, y: 14, class: "game-tick middle" }, others.length ? `┈ by ${others.map(({ name }) => name).join(" and ")}` : ""),
      element("text", { x: right, y: 14, class: "game-label member end" }, "— members"),
      element("text", { x: (left + right) / 2, y: height - 4, class: "game-tick middle" }, "score (higher: more like a member)"),
    );
  },
});
