// The privacy calculator: fields, numbers and two drawings of the trade-off.
"use strict";

(() => {
  const root = document.getElementById("gmip-calculator");
  const fields = Object.fromEntries(
    [...root.querySelectorAll("input, select, textarea")].map((field) => [field.name, field]),
  );
  const status = document.getElementById("gmip-status");
  const note = document.getElementById("gmip-note");
  const point = document.getElementById("gmip-point");
  const proven = document.getElementById("gmip-audit");
  const paper = { sampling: "fixed", adjacency: "replace-one", start: "sigma", value: 0, k: "" };
  const presets = {
    example: { n: 256, records: 60000, epochs: 60, sampling: "poisson", adjacency: "add-remove", start: "epsilon-differential", value: 2, delta: 1e-5, clip: 1, d: "", k: "" },
    cifar: { n: 400, records: 48000, epochs: 10, d: 650, clip: 500, ...paper },
    purchase: { n: 795, records: 54855, epochs: 3, d: 2580, clip: 2000, ...paper },
    logged: { size: "logged", n: "", rate: 0.004, steps: 14000, sampling: "poisson", adjacency: "add-remove", value: 1.1, delta: 1e-6, clip: 1, d: "" },
    phases: { size: "logged", n: "", rate: 0.004, steps: 1000, sampling: "poisson", adjacency: "add-remove", value: 0.8, delta: 1e-6, clip: 1, d: "", history: "rate=0.01 steps=5000 sigma=1.1" },
    adult: { n: 1000, records: 43000, epochs: 20, d: 1026, clip: 800, ...paper },
  };
  const symbols = { sigma: "σ", tau: "τ", epsilon: "ε, at most", mu: "μ, at most", tpr: "TPR in %, at most" };
  const square = { left: 52, right: 318, top: 30, bottom: 280 };
  const smallestRate = 1e-4;
  // Rates of the drawings: dense at both ends of both axes.
  const drawn = [...Array(161).keys()].map((i) => 10 ** (i / 40 - 4));
  const rates = [...drawn, ...drawn.map((rate) => 1 - rate), 0.2, 0.3, 0.4, 0.6, 0.7, 0.8]
    .filter((rate) => rate > 0 && rate < 1)
    .sort((a, b) => a - b);

  function element(name, attributes, text = "") {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return node;
  }

  function path(points) {
    return points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");
  }

  // What the fields hold; an empty one is NaN, or null where it may stay empty.
  function read() {
    const number = (name, optional = false) => {
      const { value, validity } = fields[name];
      if (value.trim() === "") return optional && !validity.badInput ? null : NaN;
      return Number(value);
    };
    const logged = fields.size.value === "logged";
    const phase = {
      n: number("n", logged),
      n_records: logged ? null : number("records"),
      epochs: logged ? null : number("epochs"),
      rate: logged ? number("rate") : null,
      steps: logged ? number("steps") : null,
    };
    const choices = Object.fromEntries(["sampling", "adjacency", "start"].map((name) => [name, fields[name].value]));
    const given = { ...choices, phase, fpr: Number(fields.fpr.value), d: number("d", true), prior: number("prior") / 100 };
    for (const name of ["clip", "delta", "value", "group", "epsilon"]) given[name] = number(name);
    given.k = fields.k.value.split(/[\s,;]+/).filter(Boolean).map(Number);
    given.history = gmip.history(fields.history.value);
    given.audit = { epsilon: number("auditEpsilon", true), delta: number("auditDelta"), mu: number("auditMu", true) };
    if (given.start.startsWith("tpr")) given.value /= 100;
    return given;
  }

  function text(name, value, cutOff) {
    if (value === undefined || value === null) return "–";
    if (name === "steps") return String(value);
    if (/tpr|posterior|mixture/.test(name)) return `${(100 * value).toFixed(3)}%`;
    if (name === "sigma" || name === "tau") return String(Number(value.toPrecision(5)));
    if (name.endsWith("delta")) return value ? value.toPrecision(4) : "0";
    if (Number.isFinite(value)) return value.toFixed(4);
    return cutOff ? "not counted" : "no guarantee";
  }

  // The curves that an audit's bounds refute: of mu, and of the Gaussian mechanism with that epsilon.
  function refuted({ epsilon, delta, mu }) {
    const curves = [];
    if (mu > 0) curves.push(["audit-mu", (rate) => composed.gaussianTpr(rate, mu)]);
    const level = epsilon > 0 && delta > 0 ? composed.gaussianMu(epsilon, delta) : 0;
    if (level) curves.push(["audit-epsilon", (rate) => composed.gaussianTpr(rate, level)]);
    return curves;
  }

  function draw(svg, onLog, numbers, audit) {
    const { left, right, top, bottom } = square;
    const position = (rate) => (onLog ? 1 - Math.log10(rate) / Math.log10(smallestRate) : rate);
    const inside = (rate) => Math.min(1, Math.max(onLog ? smallestRate : 0, rate));
    const x = (rate) => left + position(inside(rate)) * (right - left);
    const y = (rate) => bottom - position(inside(rate)) * (bottom - top);
    const ticks = onLog
      ? [1e-4, 1e-3, 1e-2, 1e-1, 1].map((rate) => [rate, `${100 * rate}%`])
      : [0, 0.2, 0.4, 0.6, 0.8, 1].map((rate) => [rate, rate.toFixed(1)]);
    const curve = (level) => path([...level.at(rates).map((tpr, i) => [x(rates[i]), y(tpr)]), [x(1), y(1)]]);
    svg.replaceChildren(
      element("text", { x: (left + right) / 2, y: 18, class: "game-label middle" }, `Best attack, ${onLog ? "logarithmic" : "linear"} axes`),
      ...ticks.flatMap(([rate, label]) => [
        element("path", { d: path([[x(rate), top], [x(rate), bottom]]), class: "game-grid" }),
        element("path", { d: path([[left, y(rate)], [right, y(rate)]]), class: "game-grid" }),
        element("text", { x: x(rate), y: bottom + 18, class: "game-tick middle" }, label),
        element("text", { x: left - 6, y: y(rate) + 4, class: "game-tick end" }, label),
      ]),
      element("path", { d: path([[x(0), y(0)], [x(1), y(1)]]), class: "game-chance" }),
      element("path", { d: curve(numbers.membership), class: "game-line member", "data-curve": "membership" }),
      element("path", { d: curve(numbers.differential), class: "game-line non-member", "data-curve": "differential" }),
      ...refuted(audit).map(([name, tpr]) =>
        element("path", { d: path(rates.map((rate) => [x(rate), y(tpr(rate))])), class: "game-line gmip-proven", "data-audit": name }),
      ),
      element("text", { x: (left + right) / 2, y: 320, class: "game-tick middle" }, "FPR"),
      element("text", { x: 8, y: 18, class: "game-tick" }, "TPR"),
    );
    const at = (level) => text("tpr", level.tpr[1]);
    svg.setAttribute("aria-label", `Best attack on ${onLog ? "logarithmic" : "linear"} axes. At 1% FPR the TPR is at most ${at(numbers.membership)} under membership privacy and ${at(numbers.differential)} under differential privacy.${refuted(audit).length ? " What an audit proves is drawn beside." : ""}`);
  }

  // Whether "no promise" is only where counting stops.
  function isUncounted(name, { sigma, membership, differential }) {
    if (name === "epsilon") return sigma > 0;
    return name.startsWith("membership") ? membership.cutOff : differential.cutOff;
  }

  function remarks(numbers) {
    const { sigma, epsilon, membership, differential } = numbers;
    const uncounted = membership.cutOff || differential.cutOff || (sigma > 0 && epsilon === Infinity);
    const short = [["membership inference", membership], ["differential privacy", differential]].filter(
      ([, level]) => level.mu > 1.01 * level.limit && !level.cutOff,
    );
    return [
      short.length && `The limit is no bound here for ${short.map(([name]) => name).join(" and ")}: it falls short of the composed rates, and μ is that of the numerical composition.`,
      uncounted && "Not counted: one step tells more than is counted here (μ above 15), or all steps do (ε above 600). The promise, if any, is weak.",
      fields.d.value.trim() !== "" && fields.k.value.trim() === "" && "Membership inference: for a typical record, K = d; others may be found more easily.",
      fields.d.value.trim() === "" && "Membership inference: what differential privacy implies. Give the dimension d for its own level.",
    ]
      .filter(Boolean)
      .join(" ");
  }

  // What the two bars show, in words.
  function compared({ membership, differential }) {
    const typical = fields.d.value.trim() !== "" && fields.k.value.trim() === "";
    const times = differential.tpr[1] / membership.tpr[1];
    if (!Number.isFinite(membership.mu)) return "Neither promises anything.";
    if (times < 1.005) return "Both promise the same.";
    const allows = Number.isFinite(differential.mu)
      ? `Differential privacy allows ${times.toPrecision(2)} times as many: its adversary chose all records but one.`
      : "Differential privacy promises nothing here.";
    return typical ? `${allows} Membership inference speaks of a typical member.` : allows;
  }

  function empty(problem) {
    status.textContent = problem;
    for (const words of [point, note, proven, document.getElementById("gmip-statement")]) words.textContent = "";
    for (const bar of root.querySelectorAll("[data-bar]")) bar.style.width = 0;
    for (const output of root.querySelectorAll("[data-number]")) {
      output.textContent = "–";
      delete output.dataset.value;
    }
    for (const svg of root.querySelectorAll("svg")) {
      svg.replaceChildren();
      svg.setAttribute("aria-label", "No curve: the fields above cannot be used.");
    }
  }

  function calculate(given) {
    const sigma = gmip.sigma(given);
    if (Number.isNaN(sigma)) return empty("No noise multiplier of 0.001 to 1e6 has this target.");
    const numbers = gmip.assess(given, sigma);
    status.textContent = "";
    for (const output of root.querySelectorAll("[data-number]")) {
      const value = output.dataset.number.split(".").reduce((found, name) => found[name], numbers);
      output.textContent = text(output.dataset.number, value, isUncounted(output.dataset.number, numbers));
      output.dataset.value = value ?? NaN;
    }
    for (const row of root.querySelectorAll("[data-several]")) row.hidden = !numbers.mixture.length;
    document.getElementById("gmip-epsilon").textContent = given.epsilon;
    for (const bar of root.querySelectorAll("[data-bar]")) bar.style.width = `${100 * numbers[bar.dataset.bar].tpr[1]}%`;
    const together = numbers.mixture.length ? ` Of the records of all these K together: at most ${text("tpr", numbers.mixture[1])}.` : "";
    point.textContent = compared(numbers) + together;
    note.textContent = remarks(numbers);
    proven.textContent = gmip.judged(given.audit, numbers.differential).join(" ");
    document.getElementById("gmip-audit-key").hidden = !refuted(given.audit).length;
    document.getElementById("gmip-statement").textContent = numbers.statement;
    draw(document.getElementById("gmip-roc"), false, numbers, given.audit);
    draw(document.getElementById("gmip-roc-log"), true, numbers, given.audit);
  }

  let waiting;
  function show() {
    clearTimeout(waiting);
    const given = read();
    const [target] = given.start.split("-");
    document.getElementById("gmip-what").textContent = symbols[target];
    for (const label of root.querySelectorAll("[data-size]")) label.hidden = label.dataset.size !== fields.size.value;
    fields.fpr.disabled = target !== "tpr";
    const problem = gmip.problem(given);
    root.classList.toggle("gmip-wrong", problem !== "");
    root.setAttribute("aria-busy", String(problem === ""));
    if (problem) return empty(problem);
    status.textContent = "Calculating …";
    // A target takes a second or two: not after every key.
    waiting = setTimeout(() => {
      calculate(given);
      root.setAttribute("aria-busy", "false");
    }, 150);
  }

  // The lower bounds of an audit's JSON, into their fields.
  async function load(file) {
    fields.auditFile.value = "";
    let found = {};
    try {
      found = JSON.parse(await file.text());
    } catch {}
    const { epsilon_lower_bound: epsilon, mu_lower_bound: mu } = found ?? {};
    if (!epsilon && !mu) return empty(`No lower bounds in ${file.name}: choose the audit.json that membership audit wrote.`);
    fields.auditEpsilon.value = epsilon?.value ?? "";
    fields.auditDelta.value = epsilon?.delta ?? 1e-5;
    fields.auditMu.value = mu?.value ?? "";
    show();
  }

  for (const [name, field] of Object.entries(fields)) {
    if (name !== "auditFile") field.addEventListener("input", show);
  }
  fields.auditFile.addEventListener("change", () => fields.auditFile.files[0] && load(fields.auditFile.files[0]));
  const form = document.getElementById("gmip-run");
  for (const button of root.querySelectorAll("[data-preset]")) {
    button.addEventListener("click", () => {
      form.reset();
      for (const [name, value] of Object.entries(presets[button.dataset.preset])) fields[name].value = value;
      if (presets[button.dataset.preset].history) root.querySelector(".gmip-more").open = true;
      show();
    });
  }
  // The fields change after the event: until then what stands there is not theirs.
  form.addEventListener("reset", () => {
    root.setAttribute("aria-busy", "true");
    setTimeout(show);
  });
  show();
})();
