// Where do the weights lie? Two minima, with the record and without, and what an attacker takes for them.
"use strict";

(() => {
  const { node, text, legend, line, scale, range } = moving;
  const [TOP, BOTTOM] = [40, 286];
  // One weight; the loss of record i is half of (w - x_i)^2. The others' mean is 0, the record lies at 1.
  const [RECORDS, RECORD, DECAY] = [4, 1, 0.35];

  const numbers = {
    // Gradient of the others' losses over n, without the weight decay.
    others: (w) => ((RECORDS - 1) * w) / RECORDS,

    // The least of the regularised loss, without the record and with it.
    minima(decay) {
      const [without, withIt] = [(RECORDS - 1) / RECORDS, 1];
      return [0 / (without + decay), RECORD / RECORDS / (withIt + decay)];
    },

    // I1 + I2 but for s1: the squared Newton steps to a minimum, with the record less without it.
    stationarity({ w, forgets }, curvature = 1) {
      const decay = forgets ? 0 : DECAY;
      const inverse = 1 / (curvature + decay);
      const others = numbers.others(w) + decay * w;
      const gradient = (w - RECORD) / RECORDS;
      return RECORDS * ((inverse * (others + gradient)) ** 2 - (inverse * others) ** 2);
    },
  };

  // The bars that switches choose between.
  function shown({ knows, forgets, among }, { iha, lira, loss }) {
    const attack = iha[knows][forgets];
    return [
      { name: knows ? (forgets ? "IHA, as published" : "IHA with the weight decay") : "IHA without the others", value: attack, kind: "member" },
      { name: among ? "LiRA with its target" : "LiRA", value: lira[among], kind: "non-member" },
      { name: "LOSS", value: loss, kind: "quiet" },
    ];
  }

  const places = (view) => {
    const wide = view.isNarrow ? view.width : Math.round(view.width * 0.56);
    return { wide, x: scale([-0.9, 1.3], [16, wide - 16]), y: scale([0, 0.62], [BOTTOM, TOP + 26]) };
  };

  function draw(state, view, given) {
    const { wide, x, y } = places(view);
    const grid = range(-0.9, 1.3, 111);
    const [without, withIt] = numbers.minima(DECAY);
    const [assumedWithout, assumedWith] = numbers.minima(state.forgets ? 0 : DECAY);
    const valley = (least, height) => grid.map((w) => [x(w), y(0.06 + height * (w - least) ** 2)]).filter(([, at]) => at > TOP);
    const bottom = (least, kind, label, up) => [
      line([[x(least), y(0.06)], [x(least), BOTTOM]], `mark ${kind}`),
      ...(label ? [text(x(least), BOTTOM + 18 + up, label, `middle ${kind}`)] : []),
    ];
    const [left, top, width] = view.isNarrow ? [12, 372, view.width - 40] : [wide + 34, 92, view.width - wide - 60];
    const auc = scale([0.493, 0.62], [left, left + width]);
    const known = state.knows ? [
      line(valley(assumedWithout, 0.75), "non-member"), line(valley(assumedWith, 1), "member"),
      ...bottom(assumedWithout, "non-member", "", 0), ...bottom(assumedWith, "member", "", 0),
    ] : [line(valley((without + withIt) / 2, 0.9), "")];
    return [
      legend(16, 18, state.knows ? [["╌ loss of the others", "non-member"], ["— with the record", "member"]] : [["— loss of all training records", "base"]]),
      line([[16, BOTTOM], [wide - 16, BOTTOM]], "axis"), ...known,
      text((16 + wide - 16) / 2, BOTTOM + 24, "the model's weight: drag it", "middle"),
      text(left, top - 26, "AUC on MNIST-Odd, from a coin's 0.5", "base"),
      ...shown(state, given).flatMap(({ name, value, kind }, i) => [
        text(left, top + 62 * i, `${name} ${value.toFixed(3)}`, `strong ${kind === "quiet" ? "" : kind}`),
        node("rect", { x: Math.min(auc(0.5), auc(value)).toFixed(1), y: top + 8 + 62 * i, width: Math.max(1, Math.abs(auc(value) - auc(0.5))).toFixed(1), height: 16, class: `moving-dot ${kind}` }),
      ]),
      ...[0, 1, 2].map((i) => line([[auc(0.5), top + 4 + 62 * i], [auc(0.5), top + 28 + 62 * i]], "axis")),
    ];
  }

  function say(state, { iha, blind }) {
    if (!state.knows) return `Without the other records there is one minimum, and nothing to compare. IHA's AUC falls to <b>${iha[0][state.forgets].toFixed(3)}</b>. It looked at the weights all the while.`;
    const score = numbers.stationarity(state);
    const verdict = score < 0 ? "The weight is nearer to the minimum <b class=\"member\">with the record</b>: IHA says <b class=\"member\">member</b>." : "The weight is nearer to the minimum <b class=\"non-member\">without the record</b>: IHA says <b class=\"non-member\">no member</b>.";
    return `${verdict} The gradient of the others alone, without a look at the record, has an AUC of ${blind.toFixed(3)}.`;
  }

  moving.start("iha", {
    numbers,
    start: { w: 0.55, knows: 1, forgets: 1, among: 0 },
    // Further right IHA, which takes both steps by one Hessian, errs on which minimum is nearer.
    ranges: { w: [-0.8, 0.95], knows: [0, 1], forgets: [0, 1], among: [0, 1] },
    height: (width) => (width < moving.NARROW ? 560 : 318),
    draw,
    say,
    handles: [{
      names: ["w"], label: "The model's weight", step: 0.05, comes: true,
      at: ({ w }, view) => [places(view).x(w), BOTTOM - 14],
      to: ([x], view) => ({ w: places(view).x.invert(x) }),
      drawn: () => [node("circle", { r: 10 })],
    }],
    controls: [
      { kind: "switch", name: "knows", label: "knows the others" },
      { kind: "switch", name: "forgets", label: "forgets the weight decay" },
      { kind: "switch", name: "among", label: "target among LiRA's references" },
    ],
  });
})();
