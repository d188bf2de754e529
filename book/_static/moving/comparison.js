// What is a flag worth? A hundred flagged people, of whom fewer are members the rarer members are.
"use strict";

(() => {
  const { node, legend } = moving;
  const PEOPLE = 100;
  // Who turns first: a fixed order without a pattern, so that the eye counts and does not read a bar.
  const ORDER = Array.from({ length: PEOPLE }, (_, i) => i).sort((a, b) => ((a * 61) % PEOPLE) - ((b * 61) % PEOPLE));

  const numbers = {
    // Of the flagged, the share that is right: by Bayes' rule from the rates at one threshold.
    right: (share, [tpr, fpr]) => (share * tpr) / (share * tpr + (1 - share) * fpr),
    share: ({ share }) => 10 ** share,
  };

  const members = (state, rates) => Math.round(PEOPLE * numbers.right(numbers.share(state), rates[state.attack].rates));

  function words(value) {
    const share = 10 ** value;
    if (share > 0.499) return "half";
    return share >= 0.01 ? `${(100 * share).toFixed(share < 0.1 ? 1 : 0)}%` : `1 in ${Math.round(1 / share).toLocaleString("en")}`;
  }

  function draw(state, view, { attacks }) {
    const count = members(state, attacks);
    const columns = view.isNarrow ? 10 : 20;
    const [side, tall] = [Math.min(40, (view.width - 20) / columns), (view.height - 40) / (PEOPLE / columns)];
    const left = (view.width - side * columns) / 2;
    const kind = Array(PEOPLE).fill("innocent");
    ORDER.slice(0, count).forEach((at) => { kind[at] = "flagged"; });
    const size = Math.min(side / 18, tall / 22);
    return kind.map((one, i) => node("g", {
      class: `moving-person ${one}`,
      transform: `translate(${(left + side * (0.5 + (i % columns))).toFixed(1)} ${(24 + tall * (0.5 + Math.floor(i / columns))).toFixed(1)}) scale(${size.toFixed(2)})`,
    }, node("circle", { cy: -5, r: 3.4 }), node("path", { d: "M-5.5 8a5.5 7 0 0 1 11 0z" }))).concat(
      legend(left + 4, 16, [[view.isNarrow ? "● a member" : "● a member, found", "member"], ["● never in the data", ""]]),
    );
  }

  function say(state, { attacks }) {
    const count = members(state, attacks);
    const { name } = attacks[state.attack];
    if (count > 50) return `<b class="member">${count}</b> of the hundred whom ${name} flags are members.${count > 90 ? " That looks like proof. Now make members rarer." : ""}`;
    return `Only <b class="member">${count}</b> of the hundred whom ${name} flags are members. The other ${PEOPLE - count} were never in the data, and are accused.`;
  }

  moving.start("comparison", {
    numbers,
    start: { share: Math.log10(0.5), attack: 1 },
    ranges: { share: [-3, Math.log10(0.5)], attack: [0, 3] },
    height: (width) => (width < moving.NARROW ? 440 : 310),
    draw,
    say,
    controls: [
      { kind: "slider", name: "share", label: "Members among those you ask about", step: (3 + Math.log10(0.5)) / 270, words },
      { kind: "choice", name: "attack", label: "Attack", options: ["LOSS", "LiRA", "RMIA", "BASE"] },
    ],
  });
})();
