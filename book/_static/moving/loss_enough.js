// Is the loss enough? Models come to rest in a valley; three tests ask them for one record.
"use strict";

(() => {
  const { node, text, legend, line, scale } = moving;
  const ANGLE = 0.9;
  const GRADIENT = [Math.cos(ANGLE), Math.sin(ANGLE)];
  // How far apart the best test sees the two clouds, in standard deviations.
  const DISTANCE = 2;
  const [MODELS, HEAD] = [90, 28];
  const TESTS = [["how far?", "member"], ["how high?", "non-member"], ["how steep?", ""]];
  const normal = moving.normals(7);
  const drawn = [0, 1].map(() => Array.from({ length: MODELS }, () => [normal(), normal()]));

  const numbers = {
    // Along the valley and across: their product is one.
    curvature: ({ condition }) => [10 ** (-condition / 2), 10 ** (condition / 2)],

    // The cloud's variances, K^(exponent - 1), and how the record moves its middle, along g / K.
    clouds(state) {
      const curvature = numbers.curvature(state);
      const spread = curvature.map((k) => k ** (state.exponent - 1));
      const along = curvature.map((k, i) => GRADIENT[i] / k);
      const seen = Math.sqrt(along.reduce((sum, a, i) => sum + (a * a) / spread[i], 0));
      return { curvature, spread, shift: along.map((a) => (a * DISTANCE) / seen) };
    },

    // What each test reads of the weights: distance to the minimum, height of the record's loss, steepness.
    directions: (curvature) => [1, 0, -1].map((power) => curvature.map((k, i) => GRADIENT[i] / k ** power)),

    // How far apart a test sees the clouds, in its own standard deviations.
    separation({ spread, shift }, direction) {
      const apart = direction.reduce((sum, a, i) => sum + a * shift[i], 0);
      return apart / Math.sqrt(direction.reduce((sum, a, i) => sum + a * a * spread[i], 0));
    },

    auc: (separation) => game.upperTail(-separation / Math.SQRT2),

    aucs(state) {
      const clouds = numbers.clouds(state);
      return numbers.directions(clouds.curvature).map((direction) => numbers.auc(numbers.separation(clouds, direction)));
    },
  };

  function valley(state, width, height) {
    const { curvature, spread, shift } = numbers.clouds(state);
    const middle = [width / 2, height / 2];
    const reach = spread.map((v, i) => 3.1 * Math.sqrt(v) + Math.abs(shift[i]) / 2);
    const unit = Math.min(...reach.map((r, i) => (middle[i] - 6) / r));
    const at = (w) => w.map((value, i) => middle[i] + (i ? -1 : 1) * value * unit);
    const cloud = (points, sign, kind) => points.map((point) => {
      const [cx, cy] = at(point.map((z, i) => z * Math.sqrt(spread[i]) + (sign * shift[i]) / 2));
      return node("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: 3, class: `moving-dot ${kind}`, opacity: 0.55 });
    });
    const heights = [1, 2, 3].map((step) => {
      const [rx, ry] = curvature.map((k) => ((step * Math.max(...reach.map((r, j) => r * Math.sqrt(curvature[j])))) / 3 / Math.sqrt(k)) * unit);
      return node("ellipse", { cx: middle[0].toFixed(1), cy: middle[1].toFixed(1), rx: rx.toFixed(1), ry: ry.toFixed(1), class: "moving-line faint" });
    });
    const cut = numbers.directions(curvature).map(([a, b], i) => {
      const size = Math.hypot(a, b);
      const far = (2 * Math.hypot(width, height)) / unit;
      const ends = [1, -1].map((sign) => at([(-b / size) * far * sign, (a / size) * far * sign]));
      // Its name where it leaves the picture, the middle one's at the other end; lines that are one have one name.
      const [dx, dy] = [(-b / size), (-a / size)].map((d) => d * (i === 1 ? -1 : 1));
      const out = Math.min((middle[0] - 48) / Math.abs(dx), (middle[1] - 16) / Math.abs(dy));
      const [right, up] = Math.abs(dx) < Math.abs(dy) ? [46, -4] : [0, 6];
      const name = text(middle[0] + out * dx + right, middle[1] + out * dy - up, TESTS[i][0], `strong middle ${TESTS[i][1] || "base"}`);
      return i && state.condition < 0.2 ? line(ends, TESTS[i][1]) : node("g", {}, line(ends, TESTS[i][1]), name);
    });
    return [...heights, ...cloud(drawn[0], -1, "non-member"), ...cloud(drawn[1], 1, "member"), ...cut];
  }

  function bars(state, left, top, width) {
    const found = numbers.aucs(state);
    const best = numbers.auc(DISTANCE);
    const x = scale([0.5, 1], [left, left + width]);
    return [
      ...found.flatMap((value, i) => [
        text(left, top + 14 + 62 * i, `${TESTS[i][0]} ${value.toFixed(2)}`, `strong ${TESTS[i][1] || "base"}`),
        node("rect", { x: left, y: top + 22 + 62 * i, width: Math.max(1, x(value) - left).toFixed(1), height: 16, class: `moving-dot ${TESTS[i][1]}` }),
      ]),
      line([[x(best), top - 2], [x(best), top + 168]], "mark"),
      text(left + width, top + 188, "the best there is", "end"), text(left, top + 188, "coin"),
    ];
  }

  function draw(state, view) {
    const wide = view.isNarrow ? view.width : Math.round(view.width * 0.62);
    const tall = view.isNarrow ? 280 : view.height - HEAD;
    const clip = node("clipPath", { id: "moving-valley" }, node("rect", { x: 0, y: 0, width: wide, height: tall }));
    const [left, top, width] = view.isNarrow ? [10, 366, view.width - 30] : [wide + 28, 70, view.width - wide - 44];
    return [
      clip, node("g", { "clip-path": "url(#moving-valley)", transform: `translate(0 ${HEAD})` }, ...valley(state, wide, tall)),
      legend(6, 16, [["● trained with the record", "member"], ["● without it", "non-member"]]),
      text(left, top - 22, "AUC of three questions", "base"),
      ...bars(state, left, top, width),
    ];
  }

  function say(state) {
    const found = numbers.aucs(state);
    const most = Math.max(...found);
    const names = ["<b class=\"member\">how far</b> it is from the minimum", "<b class=\"non-member\">how high</b> the record's loss is", "<b>how steep</b> the ground is"];
    if (Math.min(...found) > most - 0.005) return "In a round valley all three questions are one. Make the valley longer.";
    const level = names.filter((_, i) => found[i] > most - 0.005);
    const noise = state.exponent > 0.85 ? "Under the noise of SGD" : Math.abs(state.exponent) < 0.15 ? "Under the same noise everywhere, as for a draw from the posterior," : "Under this noise";
    return `${noise} one does best to ask ${level[0]}: AUC ${most.toFixed(2)}. ${found[1] > most - 0.005 ? `The distance has ${found[0].toFixed(2)}` : `The loss alone has ${found[1].toFixed(2)}`}.`;
  }

  moving.start("loss_enough", {
    numbers,
    start: { condition: 1.2, exponent: 1 },
    ranges: { condition: [0, 2], exponent: [-1, 1] },
    height: (width) => (width < moving.NARROW ? 560 : 340),
    draw,
    say,
    controls: [
      { kind: "slider", name: "condition", label: "Length of the valley", step: 0.02, words: (value) => `condition ${(10 ** value).toFixed(value < 1 ? 1 : 0)}` },
      { kind: "slider", name: "exponent", label: "Noise", step: 0.05, words: (value) => (value > 0.95 ? "as SGD's" : Math.abs(value) < 0.04 ? "even" : value < -0.95 ? "along the flat" : moving.signed(value, 2)) },
    ],
  });
})();
