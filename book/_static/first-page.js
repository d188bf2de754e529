// The first page's picture: one threshold, and what it finds and whom it accuses.
"use strict";

(() => {
  const svg = document.getElementById("first-scores");
  const threshold = document.getElementById("first-threshold");
  const told = document.getElementById("first-told");
  const state = { t: Number(threshold.value), mu: 2, sigma: 1.2 };

  function show() {
    threshold.value = state.t;
    const whole = (rate) => `${Math.round(100 * rate)} of 100`;
    const rates = [game.tpr(state.t, state.mu, state.sigma), game.upperTail(state.t)];
    told.value = `finds ${whole(rates[0])} members, accuses ${whole(rates[1])} others`;
    svg.setAttribute("aria-label", `Two overlapping groups of scores, non-members to the left, members to the right. A threshold at ${state.t.toFixed(1)} ${told.value}.`);
    game.drawScores(svg, state);
  }

  function change(t) {
    state.t = t;
    show();
  }

  game.hold(svg, change);
  threshold.addEventListener("input", () => change(Number(threshold.value)));
  document.getElementById("first-rare").addEventListener("click", () => change(game.thresholdAt(0.01)));
  new ResizeObserver(show).observe(svg.parentElement);
})();
