// How much does noise find? Scores that know nothing, judged at the threshold that suits them best.
"use strict";

(() => {
  const { node, text, line, scale, signed } = moving;
  const [TOP, BOTTOM, KEPT] = [52, 300, 14];

  const numbers = {
    // Half of n records are members; 400 and more are even numbers of them.
    records: ({ size }) => 2 * Math.round(10 ** size / 2),

    // A random order of members (1) and others (0), by Fisher and Yates.
    order(n, seed) {
      const normal = moving.normals(seed);
      const scored = Array.from({ length: n }, (_, i) => [normal(), i < n / 2 ? 1 : 0]);
      return scored.sort((a, b) => b[0] - a[0]).map(([, member]) => member);
    },

    // Accuracy at each threshold: so many of the highest scores are called members.
    accuracies(order) {
      let right = order.length / 2;
      return [right, ...order.map((member) => (right += member ? 1 : -1))].map((count) => count / order.length);
    },

    peak: (accuracies) => Math.max(...accuracies),

    // What the best threshold gives noise on average, for n records, half of them members.
    expected(n) {
      // 4^h / C(2h, h), as a product.
      let ways = 1;
      for (let i = 1; i <= n / 2; i += 1) ways *= (2 * i) / (2 * i - 1);
      return 0.5 + (ways - 1) / (2 * n);
    },
  };

  const kept = new Map();

  function walk(n, seed) {
    const key = `${n},${seed}`;
    if (!kept.has(key)) {
      if (kept.size > 200) kept.clear();
      const found = numbers.accuracies(numbers.order(n, seed));
      const peak = numbers.peak(found);
      kept.set(key, { found, peak, at: found.indexOf(peak) });
    }
    return kept.get(key);
  }

  const seeds = ({ seed }) => Array.from({ length: Math.min(KEPT, seed) }, (_, i) => seed - i).reverse();

  function draw(state, view, { printed }) {
    const n = numbers.records(state);
    const expected = numbers.expected(n);
    const walks = seeds(state).map((seed) => walk(n, seed));
    const most = Math.max(...walks.map(({ peak }) => peak), printed / 100);
    const right = view.width - (view.isNarrow ? 62 : 120);
    const x = scale([0, 1], [40, right]);
    const least = Math.min(0.495, ...walks.at(-1).found);
    const y = scale([least - 0.003, most + 0.005], [BOTTOM, TOP]);
    const every = Math.max(1, Math.floor(n / 800));
    const curve = ({ found }) => found.map((value, i) => [x(i / n), y(value)]).filter((_, i) => i % every === 0 || i === n);
    const last = walks.at(-1);
    const aside = (i) => right + 14 + ((view.width - right - 24) * (i + 1)) / KEPT;
    const level = (value, kind) => line([[40, y(value)], [view.width - 8, y(value)]], kind);
    return [
      level(0.5, "axis"), level(printed / 100, "non-member"),
      text(view.width - 8, y(0.5) + 16, view.isNarrow ? "a coin" : "50%: a coin", "end"), text(44, y(printed / 100) - 7, `${printed.toFixed(1)}%: printed for ${view.isNarrow ? "MALT" : "the attack MALT, at 400 records"}`, "non-member strong"),
      ...walks.slice(0, -1).map((one) => line(curve(one), "faint")),
      line(curve(last), ""),
      line([[x(last.at / n), y(last.peak)], [right + 6, y(last.peak)]], "mark"),
      node("circle", { cx: x(last.at / n).toFixed(1), cy: y(last.peak).toFixed(1), r: 6, class: "moving-dot member" }),
      ...walks.map(({ peak }, i) => node("circle", { cx: aside(i).toFixed(1), cy: y(peak).toFixed(1), r: i === walks.length - 1 ? 6 : 4, class: `moving-dot ${i === walks.length - 1 ? "member" : "quiet"}` })),
      line([[right + 8, y(expected)], [view.width - 8, y(expected)]], "member"),
      text(view.width - 8, y(expected) + (y(0.5) - y(expected) < 40 ? -8 : 16), "average", "member end"),
      text(40, 18, view.isNarrow ? "right decisions, by threshold" : "right decisions, by where the threshold is put", "base"),
      text(x(0.5), BOTTOM + 22, "share of the records that is accused", "middle"),
      text(view.width - 8, 18, view.isNarrow ? "best" : "best thresholds", "member strong end"),
    ];
  }

  function say(state, { printed }) {
    const n = numbers.records(state);
    const { peak } = walk(n, state.seed);
    const told = `These scores are noise. The best threshold is still right on <b class="member">${(100 * peak).toFixed(1)}%</b> of ${n.toLocaleString("en")} records, and on ${(100 * numbers.expected(n)).toFixed(1)}% on average.`;
    return 100 * peak >= printed ? `${told} The paper prints ${signed(printed, 1)}% for an attack.` : `${told} Draw again, or take fewer records.`;
  }

  moving.start("bayes_optimal", {
    numbers,
    start: { size: Math.log10(400), seed: 1 },
    ranges: { size: [Math.log10(50), Math.log10(6000)], seed: [1, 99999] },
    height: 336,
    draw,
    say,
    controls: [
      { kind: "button", label: "Draw noise again", press: (shown) => shown.change({ seed: shown.state.seed + 1 }) },
      { kind: "slider", name: "size", label: "Records", step: 0.01, words: (size) => numbers.records({ size }).toLocaleString("en") },
    ],
  });
})();
