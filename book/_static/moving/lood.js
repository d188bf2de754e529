// What does one record leave behind? A Gaussian process with and without one record, at every question.
"use strict";

(() => {
  const { node, path, text, legend, line, scale, range, signed } = moving;
  const OTHERS = [[-3.1, 0.5], [-2.4, 0.9], [-1.6, 0.2], [-0.9, -0.5], [1.9, 0.1], [2.6, 0.8], [3.3, 0.4]];
  const GRID = range(-4, 4, 241);
  // The kernel: that of an RBF, times a factor that is nearly 1 but vanishes where the input is 0, as
  // kernels of networks without biases do. An input is measured from ORIGIN unless the data normalise.
  const [GAMMA, VANISHES, ORIGIN, UNIT] = [4.8, 0.1, -6, 2.4];
  const factorAt = (u) => u / Math.sqrt(VANISHES + u * u);
  const [TOP, MIDDLE, BOTTOM] = [34, 250, 362];

  const numbers = {
    // The two training sets; the record is the last of the second.
    sets({ x, y, twin }) {
      const without = twin ? [...OTHERS, [x + 0.12, y - 0.1]] : OTHERS;
      return [without, [...without, [x, y]]];
    },

    // Mean and variance of the latent function at some inputs.
    posterior(data, inputs, noise, normalised) {
      const xs = data.map(([x]) => x);
      const n = xs.length;
      const origin = normalised ? xs.reduce((a, b) => a + b, 0) / n : ORIGIN;
      const unit = normalised ? Math.sqrt(xs.reduce((a, b) => a + (b - origin) ** 2, 0) / n) : UNIT;
      const kernel = (a, b) => factorAt((a - origin) / unit) * factorAt((b - origin) / unit) * Math.exp(-GAMMA * ((a - b) / unit) ** 2);
      const factor = xs.map(() => new Float64Array(n));
      for (let i = 0; i < n; i += 1) {
        for (let j = 0; j <= i; j += 1) {
          let sum = kernel(xs[i], xs[j]) + (i === j ? noise : 0);
          for (let m = 0; m < j; m += 1) sum -= factor[i][m] * factor[j][m];
          factor[i][j] = i === j ? Math.sqrt(sum) : sum / factor[j][j];
        }
      }
      const solve = (values) => {
        const solved = new Float64Array(n);
        for (let i = 0; i < n; i += 1) {
          let sum = values[i];
          for (let m = 0; m < i; m += 1) sum -= factor[i][m] * solved[m];
          solved[i] = sum / factor[i][i];
        }
        return solved;
      };
      const labels = solve(data.map(([, y]) => y));
      return inputs.map((input) => {
        const seen = solve(xs.map((x) => kernel(input, x)));
        let [value, known] = [0, 0];
        for (let i = 0; i < n; i += 1) {
          value += seen[i] * labels[i];
          known += seen[i] * seen[i];
        }
        return [value, Math.max(kernel(input, input) - known, 1e-200)];
      });
    },

    kl([m0, v0], [m1, v1]) {
      return 0.5 * (v0 / v1 - 1 - Math.log(v0 / v1) + (m0 - m1) ** 2 / v1);
    },

    // How far the two models are apart at some questions, in nats.
    apart(state, questions) {
      const [without, withIt] = numbers.sets(state).map((data) => numbers.posterior(data, questions, 10 ** state.noise, state.normalise));
      return questions.map((_, i) => numbers.kl(without[i], withIt[i]));
    },

    // Where a question tells most, on the grid and at the record.
    best(state) {
      const questions = [...GRID, state.x];
      const found = numbers.apart(state, questions);
      const most = Math.max(...found);
      return { at: questions[found.lastIndexOf(most)], most, atRecord: found[GRID.length] };
    },
  };

  const places = ({ width }) => ({ x: scale([-4, 4], [24, width - 24]), y: scale([2, -2], [TOP, MIDDLE - 10]) });

  function tells(state) {
    const found = numbers.apart(state, GRID);
    const [atRecord] = numbers.apart(state, [state.x]);
    const most = Math.max(Math.min(Math.max(...found), 4 * atRecord), atRecord, 0.05);
    const height = scale([0, most], [BOTTOM, MIDDLE + 24]);
    return { found, height: (value) => height(Math.min(value, 1.06 * most)) };
  }

  function draw(state, view) {
    const { x, y } = places(view);
    const posteriors = numbers.sets(state).map((data) => numbers.posterior(data, GRID, 10 ** state.noise, state.normalise));
    const { found, height } = tells(state);
    const curve = (posterior) => GRID.map((at, i) => [x(at), y(posterior[i][0])]);
    const band = (posterior, kind) => {
      const edge = (sign) => GRID.map((at, i) => [x(at), y(posterior[i][0] + sign * Math.sqrt(posterior[i][1]))]);
      return node("path", { d: `${path([...edge(1), ...edge(-1).reverse()])}Z`, class: `moving-band ${kind}` });
    };
    const dot = (point, kind) => node("circle", { cx: point[0].toFixed(1), cy: point[1].toFixed(1), r: 5, class: `moving-dot ${kind}` });
    const [without] = numbers.sets(state);
    const [atRecord, asked] = numbers.apart(state, [state.x, state.question]);
    return [
      band(posteriors[0], "non-member"), band(posteriors[1], "member"),
      line(curve(posteriors[0]), "non-member"), line(curve(posteriors[1]), "member"),
      ...without.map(([px, py], i) => dot([x(px), y(py)], i < OTHERS.length ? "" : "twin")),
      legend(24, 20, [["— with the record", "member"], ["╌ without it", "non-member"]]),
      line([[24, BOTTOM], [view.width - 24, BOTTOM]], "axis"), line(GRID.map((at, i) => [x(at), height(found[i])]), ""),
      text(24, MIDDLE + 8, "what a question there tells (nats)"),
      line([[x(state.question), TOP], [x(state.question), BOTTOM]], "pointer"),
      dot([x(state.x), height(atRecord)], "member"), dot([x(state.question), height(asked)], ""),
    ];
  }

  function say(state) {
    const [asked] = numbers.apart(state, [state.question]);
    const { at, most, atRecord } = numbers.best(state);
    const told = `Asked at the dotted line, the two models differ by <b>${asked.toFixed(2)}</b> nats; at the record by <b class="member">${atRecord.toFixed(2)}</b>.`;
    if (most > 1.001 * atRecord) return `${told} At ${signed(at, 2)} it is <b>${most < 1000 ? most.toFixed(1) : "over a thousand"}</b>: both models are sure at the mean of their own data, and the record has moved the mean.`;
    if (state.twin) return `${told} With a twin among the data there is little left to tell.`;
    if (asked > 0.97 * atRecord) return `${told} You are asking at the record. No question tells more.`;
    return `${told} Can you find a question that tells more than the record?`;
  }

  moving.start("lood", {
    numbers,
    start: { x: 0.5, y: 1.2, question: -0.4, noise: -1, twin: 0, normalise: 0 },
    ranges: { x: [-3.9, 3.9], y: [-1.9, 1.9], question: [-4, 4], noise: [-2.3, 0.3], twin: [0, 1], normalise: [0, 1] },
    height: 396,
    draw,
    say,
    handles: [
      {
        names: ["question"], label: "Where the models are asked", step: 0.1, comes: true, reach: 30,
        at: ({ question }, view) => [places(view).x(question), BOTTOM + 14],
        to: ([x], view) => ({ question: places(view).x.invert(x) }),
        drawn: () => [node("path", { d: "M-10 9h20l-10 -17z" })],
      },
      {
        names: ["x", "y"], label: "The record", step: 0.1,
        at: (state, view) => [places(view).x(state.x), places(view).y(state.y)],
        to: ([x, y], view) => ({ x: places(view).x.invert(x), y: places(view).y.invert(y) }),
        drawn: () => [node("circle", { r: 10, class: "member" }), text(14, -8, "drag me", "member")],
      },
    ],
    controls: [
      { kind: "slider", name: "noise", label: "Noise of the labels", step: 0.05, words: (value) => (10 ** value).toFixed(value < -1 ? 3 : 2) },
      { kind: "switch", name: "twin", label: "a twin stays in the data" },
      { kind: "switch", name: "normalise", label: "normalise by the data" },
      { kind: "button", label: "Ask where it tells most", press: (shown) => shown.glide({ question: numbers.best(shown.state).at }) },
    ],
  });
})();
