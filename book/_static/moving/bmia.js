// Who is accused at a nominal level? A hundred innocents under the published p-value and the mended one.
"use strict";

(() => {
  const { node, path, text, legend, line, scale, range } = moving;
  const [PEOPLE, MOST, TOP, BOTTOM] = [100, 1000, 40, 286];
  const LEVELS = [0.01, 0.05, 0.1];
  const BIN = 0.2;

  const numbers = {
    count: ({ draws }) => Math.round(10 ** draws),

    // P(T > t) for Student's law.
    tail(t, degrees) {
      const half = beta.cdf(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
      return t < 0 ? 1 - half : half;
    },

    // The t that is exceeded with the probability of the level.
    critical(level, degrees) {
      let [low, high] = [-50, 400];
      for (let i = 0; i < 100; i += 1) {
        const middle = (low + high) / 2;
        if (numbers.tail(middle, degrees) > level) low = middle;
        else high = middle;
      }
      return (low + high) / 2;
    },

    // The p-value of "not a member", from the mean and the deviation of so many draws.
    pValue(score, mean, deviation, count, mended) {
      const z = (score - mean) / deviation;
      return numbers.tail(mended ? z / Math.sqrt(1 + 1 / count) : z * Math.sqrt(count), count - 1);
    },
  };

  // Everyone's own score, and mean and deviation of the first draws of what a reference predicts: one law for all.
  const innocents = Array.from({ length: PEOPLE }, (_, i) => {
    const normal = moving.normals(1000 + i);
    const score = normal();
    const sums = [[0, 0]];
    for (let j = 0; j < MOST; j += 1) {
      const one = normal();
      sums.push([sums[j][0] + one, sums[j][1] + one * one]);
    }
    return { score, sums };
  }).sort((a, b) => a.score - b.score);

  function moments({ sums }, count) {
    const [sum, squares] = sums[count];
    const mean = sum / count;
    return [mean, Math.sqrt((squares - count * mean * mean) / (count - 1))];
  }

  // Accused where the statistic is above Student's quantile, which is where p falls below the level.
  function isAccused(state) {
    const count = numbers.count(state);
    const factor = state.mended ? 1 / Math.sqrt(1 + 1 / count) : Math.sqrt(count);
    const critical = numbers.critical(LEVELS[state.level], count - 1);
    return innocents.map((one) => {
      const [mean, deviation] = moments(one, count);
      return (factor * (one.score - mean)) / deviation > critical;
    });
  }

  function draw(state, view) {
    const count = numbers.count(state);
    const accused = isAccused(state);
    const x = scale([-3.4, 3.4], [20, view.width - 20]);
    const height = (value) => BOTTOM - value * (BOTTOM - TOP) * 2.3;
        const stacks = new Map();
    const people = innocents.map(({ score }, i) => {
      const bin = Math.round(score / BIN);
      const up = stacks.get(bin) ?? 0;
      stacks.set(bin, up + 1);
      const radius = Math.min(6, (x(BIN) - x(0)) / 2 - 0.5);
      return node("circle", { cx: x(bin * BIN).toFixed(1), cy: (BOTTOM - 8 - up * 2 * radius).toFixed(1), r: radius.toFixed(1), class: `moving-dot ${accused[i] ? "member" : "quiet"}` });
    });
    const grid = range(-3.4, 3.4, 137);
    const density = grid.map((at) => [x(at), height(Math.exp((-at * at) / 2) / Math.sqrt(2 * Math.PI))]);
    const threshold = numbers.critical(LEVELS[state.level], count - 1) * (state.mended ? Math.sqrt(1 + 1 / count) : 1 / Math.sqrt(count));
    const edge = Math.min(3.3, threshold);
    const isFar = x(edge) > view.width - 170;
    return [
      node("path", { d: `${path([...density, [x(3.4), BOTTOM], [x(-3.4), BOTTOM]])}Z`, class: "moving-band non-member" }),
      line([[20, BOTTOM], [view.width - 20, BOTTOM]], "axis"), ...people,
      line([[x(edge), TOP], [x(edge), BOTTOM]], "mark"),
      legend(20, 18, [["● a hundred innocents", ""], ["● accused", "member"]]),
      text(x(edge) + (isFar ? -8 : 8), TOP + 10, "accused from here →", `strong ${isFar ? "end" : ""}`),
      text(x(0), BOTTOM + 22, view.isNarrow ? "score, in deviations of the prediction" : "the record's score, in standard deviations of what the reference predicts", "middle"),
    ];
  }

  function say(state) {
    const count = isAccused(state).filter(Boolean).length;
    const level = `${100 * LEVELS[state.level]}%`;
    const draws = numbers.count(state).toLocaleString("en");
    if (state.mended) return `With the factor the test allows for the spread of one more draw. At ${level} it accuses <b class="member">${count}</b> of these hundred, one or two more or fewer by chance, with ${draws} draws or with any other number.`;
    return `At a nominal ${level} the published p-value, from ${draws} draws, accuses <b class="member">${count}</b> of a hundred innocents, each by draws of its own; the line is the average one's. ${count > 35 ? "Everyone a little above the mean is called a member." : "Take more draws, and it accuses more."}`;
  }

  moving.start("bmia", {
    numbers,
    start: { draws: 1, level: 0, mended: 0 },
    ranges: { draws: [Math.log10(4), 3], level: [0, 2], mended: [0, 1] },
    height: 322,
    draw,
    say,
    controls: [
      { kind: "slider", name: "draws", label: "Draws from the posterior", step: 0.01, words: (draws) => numbers.count({ draws }).toLocaleString("en") },
      { kind: "switch", name: "mended", label: "with the factor √(1 + 1/N)" },
      { kind: "choice", name: "level", label: "Nominal level", options: LEVELS.map((level) => `${100 * level}%`) },
    ],
  });
})();
