// What does one step give away? Two laws mu apart, and the records whose gradients are unusual.
"use strict";

(() => {
  const { node, path, text, legend, line, scale, range } = moving;
  const FPR = 0.1;
  const [TOP, MIDDLE, LOW] = [40, 196, 268];
  const RATIOS = [0.02, 60];

  const numbers = {
    // The noise, in clipping norms, makes the batch look larger.
    effective: ({ batch, noise }) => 10 ** batch + noise * noise,

    // The level of one step for a record of susceptibility K = ratio * d (Corollary 5.1).
    mu(state) {
      const [d, n] = [10 ** state.parameters, numbers.effective(state)];
      const k = 10 ** state.ratio * d;
      return (d + (2 * n - 1) * k) / (n * Math.sqrt(2 * d + 4 * n * k));
    },

    // What the best attack finds where one non-member in ten is accused.
    found: (mu) => game.upperTail(game.thresholdAt(FPR) - mu),
  };

  const words = (ratio) => (ratio < 0.1 ? ratio.toFixed(2) : ratio < 10 ? ratio.toFixed(1) : ratio.toFixed(0));
  const ofRatios = ({ width }) => scale(RATIOS.map(Math.log10), [20, width - 20]);

  function draw(state, view, { records }) {
    const mu = numbers.mu(state);
    const cut = game.thresholdAt(FPR);
    const x = scale([-3.2, 6], [20, view.width - 20]);
    const y = (value) => MIDDLE - (value / 0.42) * (MIDDLE - TOP);
    const grid = range(-3.2, 6, 185);
    const curve = (centre, from = -3.2) => grid.filter((at) => at >= from).map((at) => [x(at), y(game.density(at, centre, 1))]);
    const area = (centre, kind) => node("path", { d: `${path([[x(cut), MIDDLE], [x(cut), y(game.density(cut, centre, 1))], ...curve(centre, cut), [x(6), MIDDLE]])}Z`, class: `moving-band ${kind}` });
    const along = ofRatios(view);
    return [
      area(Math.min(mu, 8), "member"), area(0, "non-member"),
      line(curve(0), "non-member"), line(curve(Math.min(mu, 8)), "member"),
      line([[20, MIDDLE], [view.width - 20, MIDDLE]], "axis"), line([[x(cut), TOP], [x(cut), MIDDLE]], "mark"),
      legend(20, 18, [["╌ not in the batch", "non-member"], ["— in the batch", "member"]]),
      text(view.width - 20, TOP + 4, `μ = ${mu.toFixed(2)}`, "base strong end"),
      line([[20, LOW], [view.width - 20, LOW]], "axis"),
      ...records.flatMap(({ name, ratio }, i) => [
        node("circle", { cx: along(Math.log10(ratio)).toFixed(1), cy: LOW, r: 5, class: "moving-dot quiet" }),
        ...(view.isNarrow && i % 2 ? [] : [text(along(Math.log10(ratio)), LOW + 24 + (i % 2 ? 16 : 0), name, ["start", "middle", "end"][i === 0 ? 0 : i === records.length - 1 ? 2 : 1])]),
      ]),
      text(20, LOW - 22, view.isNarrow ? "how unusual the record is (K/d)" : "how unusual the record's gradient is: K/d, with some records of Adult"),
    ];
  }

  function say(state, { costs }) {
    const mu = numbers.mu(state);
    const ratio = 10 ** state.ratio;
    const who = Math.abs(state.ratio) < 0.02 ? "an average record" : `a record ${words(ratio)} times as unusual as the average`;
    const told = `Of ${who}, one step lets the best attack find <b class="member">${Math.round(100 * numbers.found(mu))}%</b> where ${100 * FPR}% of non-members are accused.`;
    const cost = costs[state.clip];
    return `${told} A promise of μ = 0.4 on Adult costs ${cost.points.toFixed(1)} points of accuracy with C = ${Math.round(cost.clip)}.`;
  }

  moving.start("gmip", {
    numbers,
    start: { parameters: Math.log10(1026), batch: Math.log10(790), noise: 0, ratio: 0, clip: 0 },
    ranges: { parameters: [1, 4], batch: [1, 4], noise: [0, 100], ratio: RATIOS.map(Math.log10), clip: [0, 1] },
    height: 314,
    draw,
    say,
    handles: [{
      names: ["ratio"], label: "How unusual the record is", step: 0.05, comes: true, reach: 30,
      at: ({ ratio }, view) => [ofRatios(view)(ratio), LOW],
      to: ([x], view) => ({ ratio: ofRatios(view).invert(x) }),
      drawn: () => [node("circle", { r: 10, class: "member" })],
    }],
    controls: [
      { kind: "slider", name: "parameters", label: "Parameters d", step: 0.01, words: (value) => Math.round(10 ** value).toLocaleString("en") },
      { kind: "slider", name: "batch", label: "Batch n", step: 0.01, words: (value) => Math.round(10 ** value).toLocaleString("en") },
      { kind: "slider", name: "noise", label: "Noise, in clipping norms", step: 1, words: (value) => value.toFixed(0) },
      { kind: "choice", name: "clip", label: "Clipping norm C", options: ["the paper's", "the median gradient's"] },
    ],
  });
})();
