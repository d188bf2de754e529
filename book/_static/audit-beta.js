// The beta distribution, for exact intervals of counts. Needs nothing else.
"use strict";

const beta = {
  // Lanczos' approximation of log Gamma(x), x > 0, with g = 7 and nine terms (Godfrey 2001).
  lanczos: [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ],

  // Stirling's series, further out, where Lanczos' sum loses digits.
  logGamma(x) {
    if (x >= 20) {
      const far = 1 / (x * x);
      const series = (1 / 12 - far * (1 / 360 - far * (1 / 1260 - far / 1680))) / x;
      return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series;
    }
    let sum = beta.lanczos[0];
    for (let i = 1; i < 9; i += 1) sum += beta.lanczos[i] / (x - 1 + i);
    const t = x + 6.5;
    return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
  },

  logDensity(x, a, b) {
    const norm = beta.logGamma(a + b) - beta.logGamma(a) - beta.logGamma(b);
    return norm + (a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x);
  },

  // P(X <= x) by the continued fraction of the incomplete beta function, by Lentz' method.
  cdf(x, a, b) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - beta.cdf(1 - x, b, a);
    const tiny = 1e-300;
    const away = (value) => (Math.abs(value) < tiny ? tiny : value);
    let c = 1;
    let d = 1 / away(1 - ((a + b) * x) / (a + 1));
    let fraction = d;
    for (let m = 1; m < 10000; m += 1) {
      const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 / away(1 + even * d);
      c = away(1 + even / c);
      fraction *= d * c;
      const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / away(1 + odd * d);
      c = away(1 + odd / c);
      fraction *= d * c;
      if (Math.abs(d * c - 1) < 1e-15) break;
    }
    return (Math.exp(beta.logDensity(x, a, b)) * x * (1 - x) * fraction) / a;
  },

  // The x at which P(X <= x) = p, by Newton's method in log-odds within a bracket.
  quantile(p, a, b) {
    if (p <= 0) return 0;
    if (p >= 1) return 1;
    let [low, high] = [-745, 745];
    const mean = a / (a + b);
    let at = Math.log(mean / (1 - mean));
    for (let i = 0; i < 200; i += 1) {
      const x = 1 / (1 + Math.exp(-at));
      const over = beta.cdf(x, a, b) - p;
      if (over > 0) high = at;
      else low = at;
      const slope = Math.exp(beta.logDensity(x, a, b)) * x * (1 - x);
      let next = at - over / slope;
      if (!(next > low && next < high)) next = (low + high) / 2;
      if (Math.abs(next - at) < 1e-13 * Math.max(1, Math.abs(at))) return 1 / (1 + Math.exp(-next));
      at = next;
    }
    return 1 / (1 + Math.exp(-at));
  },
};
