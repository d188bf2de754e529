// The interactive picture of the page "The membership game": controls, three drawings, six numbers.
"use strict";

(() => {
  const root = document.getElementById("membership-game");
  const scores = document.getElementById("game-scores");
  const inputs = {
    t: document.getElementById("game-threshold"),
    mu: document.getElementById("game-mean"),
    sigma: document.getElementById("game-spread"),
  };
  // Equal AUC, 0.638: mu / sqrt(1 + sigma^2) is 0.5 / sqrt(2) in both, to the sliders' step.
  const presets = { a: { name: "A", mu: 0.5, sigma: 1 }, b: { name: "B", mu: 0.79, sigma: 2 } };
  const isShown = ({ mu, sigma }) => mu === state.mu && sigma === state.sigma;
  const others = () => Object.values(presets).filter((one) => !isShown(one));
  const square = { left: 52, right: 318, top: 30, bottom: 280 };
  const smallestRate = 1e-4;

  const { element, path, percent } = game;

  // Every position is exact: a threshold set by a button lies between two steps of its slider.
  const scoresOf = ({ mu, sigma }) => ({ mu, sigma });
  let state = { t: Number(inputs.t.value), ...scoresOf(presets.a) };

  function drawRoc(svg, onLog) {
    const { left, right, top, bottom } = square;
    const position = (rate) => (onLog ? 1 - Math.log10(rate) / Math.log10(smallestRate) : rate);
    const ticks = onLog
      ? [1e-4, 1e-3, 1e-2, 1e-1, 1].map((rate) => [rate, `${100 * rate}%`])
      : [0, 0.2, 0.4, 0.6, 0.8, 1].map((rate) => [rate, rate.toFixed(1)]);
    const x = (rate) => left + position(rate) * (right - left);
    const y = (rate) => bottom - position(rate) * (bottom - top);
    const inside = (rate) => Math.min(1, Math.max(smallestRate, rate));
    const point = (t) => [game.upperTail(t), game.tpr(t, state.mu, state.sigma)];
    const at = ([fpr, tpr]) => [x(inside(fpr)), y(inside(tpr))];
    const first = onLog ? game.thresholdAt(smallestRate) : 20;
    const thresholds = Array.from({ length: 601 }, (_, i) => first - i * 0.05);
    const curve = ({ mu, sigma }) => path(thresholds.map((t) => at([game.upperTail(t), game.tpr(t, mu, sigma)])));
    // Each attack's letter stands where the two are far apart.
    const aside = onLog ? 0.01 : 0.25;
    const named = Object.values(presets).map((one) => {
      const [letterX, letterY] = at([aside, game.tpr(game.thresholdAt(aside), one.mu, one.sigma)]);
      const isLower = one === presets.a;
      const [dx, dy, side] = isLower ? [8, 16, ""] : [-6, -6, " end"];
      return element("text", { x: letterX + dx, y: letterY + dy, class: `game-label${side}${isShown(one) ? " member" : ""}` }, one.name);
    });
    const [dotX, dotY] = at(point(state.t));
    svg.replaceChildren(
      element("text", { x: right, y: 18, class: "game-label end" }, `ROC, ${onLog ? "logarithmic" : "linear"} axes`),
      ...ticks.flatMap(([rate, label]) => [
        element("path", { d: path([[x(rate), top], [x(rate), bottom]]), class: "game-grid" }),
        element("path", { d: path([[left, y(rate)], [right, y(rate)]]), class: "game-grid" }),
        element("text", { x: x(rate), y: bottom + 18, class: "game-tick middle" }, label),
        element("text", { x: left - 6, y: y(rate) + 4, class: "game-tick end" }, label),
      ]),
      element("path", { d: path([at([0, 0]), at([1, 1])]), class: "game-chance" }),
      ...others().map((one) => element("path", { d: curve(one), class: "game-line other" })),
      element("path", { d: curve(state), class: "game-line member" }),
      ...named,
      element("circle", { cx: dotX, cy: dotY, r: 5.5, class: "game-dot" }),
      element("text", { x: (left + right) / 2, y: 320, class: "game-tick middle" }, "FPR: non-members accused"),
      element("text", { x: 8, y: 18, class: "game-tick" }, "TPR: members found"),
    );
  }

  function describe(numbers) {
    const at = `At threshold ${state.t.toFixed(2)} the FPR is ${percent(numbers.fpr)} and the TPR ${percent(numbers.tpr)}.`;
    const [wide, linear, log] = root.querySelectorAll("svg");
    wide.setAttribute("aria-label", `Densities of two groups of scores: non-members around 0 with standard deviation 1, members around ${state.mu.toFixed(2)} with standard deviation ${state.sigma.toFixed(2)}. ${at}`);
    linear.setAttribute("aria-label", `ROC curve on linear axes, area ${numbers.auc.toFixed(3)}. ${at}`);
    log.setAttribute("aria-label", `The same ROC curve on logarithmic axes: TPR ${percent(numbers.tprAt1)} at 1% FPR, ${percent(numbers.tprAt01)} at 0.1% FPR.`);
  }

  function show() {
    const numbers = game.numbers(state);
    for (const output of root.querySelectorAll("[data-number]")) {
      const value = numbers[output.dataset.number];
      output.value = output.dataset.number === "auc" ? value.toFixed(3) : percent(value);
      output.dataset.value = value;
    }
    for (const [name, input] of Object.entries(inputs)) {
      input.value = state[name];
      document.getElementById(`${input.id}-value`).value = state[name].toFixed(2).replace("-", "−");
    }
    for (const button of root.querySelectorAll("[data-preset]")) {
      button.setAttribute("aria-pressed", isShown(presets[button.dataset.preset]));
    }
    game.drawScores(scores, state, others());
    drawRoc(document.getElementById("game-roc"), false);
    drawRoc(document.getElementById("game-roc-log"), true);
    describe(numbers);
  }

  function change(part) {
    state = { ...state, ...part };
    show();
  }

  for (const [name, input] of Object.entries(inputs)) {
    input.addEventListener("input", () => change({ [name]: Number(input.value) }));
  }
  for (const button of root.querySelectorAll("[data-preset]")) {
    button.addEventListener("click", () => change(scoresOf(presets[button.dataset.preset])));
  }
  for (const button of root.querySelectorAll("[data-fpr]")) {
    button.addEventListener("click", () => change({ t: game.thresholdAt(Number(button.dataset.fpr)) }));
  }
  game.hold(scores, (t) => change({ t }));
  new ResizeObserver(() => game.drawScores(scores, state, others())).observe(scores.parentElement);
  show();
})();
