// The privacy calculator: fields, numbers and two drawings of the trade-off.
"use strict";

(() => {
  const root = document.getElementById("gmip-calculator");
  const fields = Object.fromEntries(
    [...root.querySelectorAll("input")].map((input) => [input.name, input]),
  );
  const status = document.getElementById("gmip-status");
  const presets = {
    cifar: { n: 400, records: 48000, epochs: 10, d: 650, k: "", clip: 500, tau: 0 },
    purchase: { n: 795, records: 54855, epochs: 3, d: 2580, k: "", clip: 2000, tau: 0 },
    adult: { n: 1000, records: 43000, epochs: 20, d: 1026, k: "", clip: 800, tau: 0 },
  };
  const square = { left: 52, right: 318, top: 30, bottom: 280 };
  const smallestRate = 1e-4;

  function element(name, attributes, text = "") {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return node;
  }

  function path(points) {
    return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
  }

  function sizes() {
    return Object.fromEntries(
      Object.entries(fields).map(([name, input]) => {
        const empty = input.value.trim() === "";
        const optional = name === "k" || name === "clip";
        return [name, empty ? (optional && !input.validity.badInput ? null : NaN) : Number(input.value)];
      }),
    );
  }

  function text(name, value) {
    if (name === "steps") return String(value);
    if (name.includes("Tpr")) return `${(100 * value).toFixed(3)} %`;
    return Number.isFinite(value) ? value.toFixed(4) : "no guarantee";
  }

  function draw(svg, onLog, numbers) {
    const { left, right, top, bottom } = square;
    const position = (rate) => (onLog ? 1 - Math.log10(rate) / Math.log10(smallestRate) : rate);
    const inside = (rate) => Math.min(1, Math.max(onLog ? smallestRate : 0, rate));
    const x = (rate) => left + position(inside(rate)) * (right - left);
    const y = (rate) => bottom - position(inside(rate)) * (bottom - top);
    const ticks = onLog
      ? [1e-4, 1e-3, 1e-2, 1e-1, 1].map((rate) => [rate, `${100 * rate} %`])
      : [0, 0.2, 0.4, 0.6, 0.8, 1].map((rate) => [rate, rate.toFixed(1)]);
    const curve = (mu) => {
      if (mu === Infinity) return path([[x(0), y(0)], [x(0), y(1)], [x(1), y(1)]]);
      const first = onLog ? game.thresholdAt(smallestRate) : 8 + mu;
      const points = Array.from({ length: 401 }, (_, i) => {
        const t = first - (i * (first + 8)) / 400;
        return [x(game.upperTail(t)), y(game.upperTail(t - mu))];
      });
      return path(points);
    };
    svg.replaceChildren(
      element("text", { x: (left + right) / 2, y: 18, class: "game-label middle" }, `Best attack, ${onLog ? "logarithmic" : "linear"} axes`),
      ...ticks.flatMap(([rate, label]) => [
        element("path", { d: path([[x(rate), top], [x(rate), bottom]]), class: "game-grid" }),
        element("path", { d: path([[left, y(rate)], [right, y(rate)]]), class: "game-grid" }),
        element("text", { x: x(rate), y: bottom + 18, class: "game-tick middle" }, label),
        element("text", { x: left - 6, y: y(rate) + 4, class: "game-tick end" }, label),
      ]),
      element("path", { d: path([[x(0), y(0)], [x(1), y(1)]]), class: "game-chance" }),
      element("path", { d: curve(numbers.mip), class: "game-line member", "data-curve": "mip" }),
      element("path", { d: curve(numbers.gdp), class: "game-line non-member", "data-curve": "gdp" }),
      element("text", { x: (left + right) / 2, y: 320, class: "game-tick middle" }, "FPR"),
      element("text", { x: 8, y: 18, class: "game-tick" }, "TPR"),
    );
    svg.setAttribute("aria-label", `Best attack on ${onLog ? "logarithmic" : "linear"} axes. At 1 % FPR the TPR is ${text("mipTpr1", numbers.mipTpr1)} under membership privacy and ${text("gdpTpr1", numbers.gdpTpr1)} under differential privacy.`);
  }

  function show() {
    const given = sizes();
    const problem = gmip.problem(given);
    status.textContent = problem;
    root.classList.toggle("gmip-wrong", problem !== "");
    const outputs = root.querySelectorAll("[data-number]");
    if (problem) {
      for (const output of outputs) {
        output.textContent = "–";
        delete output.dataset.value;
      }
      for (const svg of root.querySelectorAll("svg")) {
        svg.replaceChildren();
        svg.setAttribute("aria-label", "No curve: the sizes above cannot be used.");
      }
      return;
    }
    const numbers = gmip.numbers(given);
    for (const output of outputs) {
      const value = numbers[output.dataset.number];
      output.textContent = text(output.dataset.number, value);
      output.dataset.value = value;
    }
    draw(document.getElementById("gmip-roc"), false, numbers);
    draw(document.getElementById("gmip-roc-log"), true, numbers);
  }

  for (const input of Object.values(fields)) input.addEventListener("input", show);
  for (const button of root.querySelectorAll("[data-preset]")) {
    button.addEventListener("click", () => {
      for (const [name, value] of Object.entries(presets[button.dataset.preset])) fields[name].value = value;
      show();
    });
  }
  show();
})();
