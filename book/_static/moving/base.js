// What the moving pictures at the head of the chapters share: a drawing with handles, controls, one
// sentence, and the state in the page's address. A picture says how it starts, draws and speaks.
"use strict";

const moving = {
  pictures: {},
  NARROW: 560,

  node(name, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  },

  element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  },

  path(points) {
    return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  },

  text(x, y, words, kind = "") {
    return moving.node("text", { x: x.toFixed(1), y: y.toFixed(1), class: `moving-text ${kind}` }, words);
  },

  // Words beside each other, each in its own colour.
  legend(x, y, parts) {
    const words = parts.map(([text, kind], i) => moving.node("tspan", { class: `moving-text strong ${kind}`, ...(i && { dx: 14 }) }, text));
    return moving.node("text", { x, y, class: "moving-text" }, ...words);
  },

  line(points, kind) {
    return moving.node("path", { d: moving.path(points), class: `moving-line ${kind}` });
  },

  // From values to places, on a straight scale, and back.
  scale([low, high], [from, to]) {
    const place = (value) => from + ((value - low) * (to - from)) / (high - low);
    place.invert = (at) => low + ((at - from) * (high - low)) / (to - from);
    return place;
  },

  range(low, high, points) {
    return Array.from({ length: points }, (_, i) => low + ((high - low) * i) / (points - 1));
  },

  clamp(value, [low, high]) {
    return Math.min(high, Math.max(low, value));
  },

  signed(value, digits) {
    return value.toFixed(digits).replace("-", "−");
  },

  // Standard normal numbers from a seed (mulberry32, Box and Muller): the same draws on all machines.
  normals(seed) {
    let state = seed >>> 0;
    const uniform = () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
    };
    let kept = null;
    return () => {
      if (kept !== null) {
        const second = kept;
        kept = null;
        return second;
      }
      const [radius, angle] = [Math.sqrt(-2 * Math.log(uniform())), 2 * Math.PI * uniform()];
      kept = radius * Math.sin(angle);
      return radius * Math.cos(angle);
    };
  },

  isStill: matchMedia("(prefers-reduced-motion: reduce)"),

  start(name, picture) {
    moving.pictures[name] = picture;
    for (const figure of document.querySelectorAll(`figure[data-moving="${name}"]`)) new moving.Shown(figure, picture);
  },
};

// One picture on its page. `picture` has: start {name: number}, ranges {name: [low, high]}, height,
// (or height(width)), controls, handles, draw(state, view, numbers) -> nodes, say(state, numbers) -> HTML.
moving.Shown = class {
  constructor(figure, picture) {
    Object.assign(this, { figure, picture, numbers: JSON.parse(figure.dataset.numbers), waiting: 0 });
    this.state = { ...picture.start, ...this.ofAddress() };
    this.drawing = moving.node("g");
    this.svg = moving.node("svg", { role: "group", "aria-label": figure.getAttribute("aria-label") }, this.drawing);
    this.said = moving.element("p", { class: "moving-say", "aria-live": "polite" });
    this.inputs = [];
    this.tools = moving.element("div", { class: "moving-tools" }, ...(picture.controls ?? []).map((one) => this.control(one)));
    this.tools.append(moving.element("button", {
      type: "button", class: "full-screen", "data-width": 1000, "data-height": this.heightAt(1000) + 170, hidden: "",
    }));
    this.handles = (picture.handles ?? []).map((one) => this.handle(one));
    figure.replaceChildren(this.svg, this.said, this.tools);
    if (this.handles.length) this.listen();
    new ResizeObserver(() => this.redraw()).observe(figure);
    this.redraw();
  }

  // A number, or a function of the width.
  heightAt(width) {
    const { height } = this.picture;
    return typeof height === "function" ? height(width) : height;
  }

  ofAddress() {
    const { start, ranges } = this.picture;
    const given = [...new URLSearchParams(location.search)].filter(([key, text]) => key in start && text && isFinite(text));
    return Object.fromEntries(given.map(([key, text]) => [key, moving.clamp(Number(text), ranges[key])]));
  }

  // A link to this page leads to the picture as it stands now.
  keepAddress() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => {
      const changed = Object.entries(this.state).filter(([key, value]) => value !== this.picture.start[key]);
      const query = new URLSearchParams(changed.map(([key, value]) => [key, Number(value.toFixed(4))]));
      try {
        history.replaceState(null, "", `${location.pathname}${changed.length ? `?${query}` : ""}${location.hash}`);
      } catch { /* a page from the disk may keep its address in some browsers */ }
    }, 250);
  }

  change(part) {
    for (const [key, value] of Object.entries(part)) this.state[key] = moving.clamp(value, this.picture.ranges[key]);
    this.redraw();
    this.keepAddress();
  }

  // To a state in many small steps, or at once for whoever asked for less motion.
  glide(part, duration = 700) {
    if (moving.isStill.matches) return this.change(part);
    const from = { ...this.state };
    const began = performance.now();
    const step = (now) => {
      const share = Math.min(1, Math.max(0, (now - began) / duration));
      const eased = 1 - (1 - share) ** 3;
      this.change(Object.fromEntries(Object.entries(part).map(([key, to]) => [key, share < 1 ? from[key] + (to - from[key]) * eased : to])));
      if (share < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  draw() {
    const scale = Number(getComputedStyle(this.svg).getPropertyValue("--scale")) || 1;
    const width = Math.max(300, Math.round(this.svg.getBoundingClientRect().width / scale));
    const height = this.heightAt(width);
    this.view = { width, height, isNarrow: width < moving.NARROW };
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawing.replaceChildren(...this.picture.draw(this.state, this.view, this.numbers));
    this.said.innerHTML = this.picture.say(this.state, this.numbers);
    for (const update of this.inputs) update();
    for (const { handle, group } of this.handles) {
      const [x, y] = handle.at(this.state, this.view);
      group.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      group.setAttribute("aria-valuenow", this.state[handle.names[0]].toFixed(2));
      group.setAttribute("aria-valuetext", handle.names.map((name) => moving.signed(this.state[name], 2)).join(", "));
      if (!group.isConnected) this.svg.append(group);
    }
  }

  // A thing to take hold of: `names` are the state's that it moves along and up; `drawn` is its look at 0, 0.
  handle(handle) {
    const [low, high] = this.picture.ranges[handle.names[0]];
    const group = moving.node("g", {
      class: "moving-handle", tabindex: 0, role: "slider", "aria-label": handle.label, "aria-valuemin": low, "aria-valuemax": high,
    }, moving.node("circle", { r: 24, class: "moving-halo" }), ...handle.drawn());
    group.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!step) return;
      event.preventDefault();
      const along = handle.names.length === 1 ? [step[0] + step[1]] : step;
      this.change(Object.fromEntries(handle.names.map((name, i) => [name, this.state[name] + along[i] * handle.step])));
    });
    return { handle, group };
  }

  listen() {
    let held = null;
    const place = (event) => {
      const box = this.svg.getBoundingClientRect();
      return [((event.clientX - box.left) * this.view.width) / box.width, ((event.clientY - box.top) * this.view.height) / box.height];
    };
    const move = (event) => this.change(held.handle.to(place(event), this.view));
    this.svg.addEventListener("pointerdown", (event) => {
      const own = event.target.closest(".moving-handle");
      const [x, y] = place(event);
      // A finger is no needle: the nearest handle comes.
      const far = ({ handle }) => Math.hypot(...handle.at(this.state, this.view).map((at, i) => at - [x, y][i]));
      held = this.handles.find(({ group }) => group === own) ?? this.handles.reduce((a, b) => (far(b) < far(a) ? b : a));
      if (!own && far(held) > (held.handle.reach ?? 48)) held = this.handles.find(({ handle }) => handle.comes) ?? null;
      if (!held) return;
      this.svg.setPointerCapture(event.pointerId);
      move(event);
    });
    this.svg.addEventListener("pointermove", (event) => held && move(event));
    for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, () => { held = null; });
  }

  control({ kind, name, label, ...more }) {
    const { element } = moving;
    if (kind === "button") {
      const button = element("button", { type: "button" }, label);
      button.addEventListener("click", () => more.press(this));
      return button;
    }
    if (kind === "choice") {
      const buttons = more.options.map((words, i) => {
        const button = element("button", { type: "button" }, words);
        button.addEventListener("click", () => this.change({ [name]: i }));
        return button;
      });
      this.inputs.push(() => buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === this.state[name])));
      return element("span", { class: "moving-choice", role: "group", "aria-label": label }, element("span", {}, label), ...buttons);
    }
    const input = element("input", kind === "switch" ? { type: "checkbox" } : { type: "range", min: this.picture.ranges[name][0], max: this.picture.ranges[name][1], step: more.step });
    const shown = element("output", {});
    input.addEventListener("input", () => this.change({ [name]: kind === "switch" ? Number(input.checked) : Number(input.value) }));
    this.inputs.push(() => {
      if (kind === "switch") input.checked = Boolean(this.state[name]);
      else {
        input.value = this.state[name];
        shown.value = more.words(this.state[name]);
        input.setAttribute("aria-valuetext", shown.value);
      }
    });
    return kind === "switch" ? element("label", {}, input, ` ${label}`) : element("label", {}, `${label} `, input, shown);
  }
};
