// Audits a file of scores in the page: nothing is uploaded. Needs audit-scores.js, audit-numbers.js.
"use strict";

(() => {
  const root = document.getElementById("audit-page");
  const part = (name) => root.querySelector(`[data-part=${name}]`);
  const status = part("status");
  let held = null; // the file: its text, title and digest, whether it is the example, whether its report is still to come
  let shown = null; // its report
  let turn = 0; // how many files were taken
  let unfolded = false; // whether the report's tables stand open

  const percent = (rate) => (rate > 0 && rate < 1e-4 ? "<0.01%" : `${Number((100 * rate).toPrecision(3))}%`);
  const number = (value) => value.toFixed(3);
  const ends = ({ value, low, high }, shown) => `${shown(value)} [${shown(low)}, ${shown(high)}]`;

  const element = (tag, text, attributes = {}) => {
    const made = document.createElementNS(attributes.xmlns ?? "http://www.w3.org/1999/xhtml", tag);
    Object.entries(attributes).forEach(([name, value]) => name !== "xmlns" && made.setAttribute(name, value));
    if (text !== null) made.textContent = text;
    return made;
  };

  const table = (caption, heads, rows) => {
    const box = element("div", null, { class: "gmip-numbers", tabindex: 0, role: "region", "aria-label": caption });
    const made = element("table", null);
    const head = element("tr", null);
    head.append(...heads.map((text) => element("th", text, { scope: "col" })));
    const body = element("tbody", null);
    rows.forEach(([first, ...cells]) => {
      const row = element("tr", null);
      row.append(element("th", first, { scope: "row" }), ...cells.map((text) => element("td", text)));
      body.append(row);
    });
    const top = element("thead", null);
    top.append(head);
    made.append(element("caption", caption), top, body);
    box.append(made);
    return box;
  };

  // The ROC curve on logarithmic axes with the interval of each point, eight in each power of ten.
  const curve = (sides, level) => {
    const xmlns = "http://www.w3.org/2000/svg";
    const decades = sides.others.length > 1000 ? 4 : 3;
    const floor = 10 ** -decades;
    const [width, height, left, bottom] = [420, 320, 52, 42];
    const scale = (rate) => Math.log(Math.max(rate, floor) / floor) / Math.log(1 / floor);
    const x = (rate) => left + scale(rate) * (width - left - 24);
    const y = (rate) => height - bottom - scale(rate) * (height - bottom - 12);
    const rates = Array.from({ length: 8 * decades }, (_, i) => 10 ** (i / 8 - decades));
    const band = rates.map((rate) => audit.tprInterval(sides, rate, level));
    const line = (points) => points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ");
    const svg = element("svg", null, { xmlns, viewBox: `0 0 ${width} ${height}`, role: "img" });
    svg.setAttribute("aria-label", "ROC curve of the attack on logarithmic axes, with its interval");
    const add = (tag, attributes, text = null) => svg.append(element(tag, text, { xmlns, ...attributes }));
    const outline = [...rates.map((rate, i) => [rate, band[i][0]]), ...rates.map((rate, i) => [rate, band[i][1]]).reverse()];
    add("polygon", { points: line(outline), class: "audit-band" });
    add("polyline", { points: line([[floor, floor], [1, 1]]), class: "audit-guess" });
    add("polyline", { points: line([...rates.map((rate) => [rate, audit.tprAt(sides, rate)]), [1, 1]]), class: "audit-curve" });
    add("polyline", { points: line([[floor, 1], [floor, floor], [1, floor]]), class: "audit-axis" });
    for (let tick = 1; tick > floor / 2; tick /= 10) {
      add("text", { x: x(tick), y: height - bottom + 16, "text-anchor": "middle" }, percent(tick));
      add("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, percent(tick));
    }
    add("text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, "false positive rate");
    add("text", { transform: `translate(12 ${height / 2}) rotate(-90)`, "text-anchor": "middle" }, "true positive rate");
    return svg;
  };

  // What no file of scores tells; the signer does.
  const blanks = (units) => [
    ["to fill in", "How the scores were made, and what that takes to know of the model: ____"],
    ["to fill in", `Which model this is, and what one ${units ? "unit is (a person, a household)" : "record is (a person, a visit, a picture)"}: ____`],
  ];

  const tables = (report) => {
    const { members, non_members: others } = report.records;
    const listed = report.most_exposed.length;
    const oneOf = report.units ? "Unit" : "Record";
    const high = Math.round(report.most_exposed[listed - 1].fpr * others);
    const expected = Math.round(Math.min((high * members) / others, listed));
    const chance =
      high * members * 2 > listed * others
        ? `. Much of this list is chance: ${high} of ${others} non-members score as high as its last one, and so would about ${expected} of its ${listed} if the attack knew nothing`
        : "";
    const made = [
      table(
        "Members that are found, by the share of non-members that are accused. Less than 10 accused non-members are too few to call a rate measured. The band of the curve drops to 0 at rates so low that perhaps no non-member is accused",
        ["False positive rate", "True positive rate", "Non-members accused"],
        report.tpr_at_fpr.map((one) => [
          percent(one.fpr),
          one.value === 0 && one.high === 1 ? "none: scores tie, so that no threshold accuses so few" : ends(one, percent),
          `${Number(one.expected_false_positives.toPrecision(3))}${one.measured ? "" : ": too few"}`,
        ]),
      ),
      table(
        "How often an accusation is right. Take the column of the share that members have among all whom this attack might accuse: 1% where one in a hundred of them was trained on",
        ["False positive rate", ...audit.priors.map((prior) => `${percent(prior)} members`)],
        report.tpr_at_fpr.map(({ fpr, measured }) => [
          `${percent(fpr)}${measured ? "" : ": too few"}`,
          ...report.positive_predictive_value
            .filter((one) => one.fpr === fpr)
            .map((one) => (measured ? ends(one, percent) : `${percent(one.low)} to ${percent(one.high)}`)),
        ]),
      ),
    ];
    const rate = (share) => (share ? ends(share, percent) : "");
    const more = report.groups
      .filter(({ fpr }) => fpr && fpr.low > 0.01)
      .map(({ group }) => `. Non-members of group ${group} are accused more often than 1%: a high score there shows the group, and not membership alone`)
      .join("");
    if (report.groups.length)
      made.push(
        table(
          `Groups: their own AUC, and their rates at the one threshold that accuses 1% of all non-members. The intervals of a column hold for all groups at once${more}`,
          ["Group", "Members, others", "AUC", "True positives", "False positives"],
          report.groups.map((one) => [
            one.group,
            `${one.members}, ${one.non_members}`,
            one.auc ? ends(one.auc, number) : "too few",
            rate(one.tpr),
            rate(one.fpr),
          ]),
        ),
      );
    const who = report.named;
    if (who.records.length)
      made.push(
        table(
          `Who may be named: ${who.members > 20 ? `the first 20 of ${who.members} names; audit.json has all` : "all names"}, by Benjamini and Hochberg's procedure at a false discovery rate of ${percent(who.fdr)}. ${who.assumed} ${who.own_rate} The p-value of a record is the share of non-members, and itself, that score as high; it is not the chance that a record is no member. This table is as confidential as the list of members`,
          [oneOf, "Score", "p-value"],
          who.records.slice(0, 20).map((one) => [one.record, String(Number(one.score.toPrecision(4))), String(Number(one.p.toPrecision(3)))]),
        ),
      );
    made.push(
      table(
        `The ${listed} of ${members} members with the highest scores, and how many non-members score as high. This table names members: it is as confidential as the list of them${chance}`,
        [oneOf, "Score", "Non-members as high"],
        report.most_exposed.map((one) => [one.record, String(Number(one.score.toPrecision(4))), `${Math.round(one.fpr * others)} of ${others}`]),
      ),
    );
    return made;
  };

  const show = (report, sides) => {
    const { members, non_members: others } = report.records;
    const { units } = report;
    const one = units ? "unit" : "record";
    const whole = units ? " for a whole unit" : "";
    const [epsilon, mu] = [report.epsilon_lower_bound, report.mu_lower_bound];
    const proved = [
      epsilon.value
        ? `If the training was differentially private${whole}, then with epsilon of at least ${number(epsilon.value)} at delta ${epsilon.delta}.`
        : `No epsilon above 0 is proved of the training, at delta ${epsilon.delta}${whole}.`,
      mu.value ? `If it was Gaussian-private${whole}, then with mu of at least ${number(mu.value)}` : "No mu above 0 is proved either, had it been Gaussian-private",
    ].join(" ");
    const meant = !mu.value || mu.epsilon === null ? "" : `, which is an epsilon of ${number(mu.epsilon)} at that delta`;
    const reasons = [...new Set([epsilon.reason, mu.reason].filter(Boolean))].map((text) => ` ${text}`).join("");
    const bounds = `${proved}${meant}${mu.epsilon > epsilon.value ? ": the second bound proves more because it supposes more, the shape of the trade-off" : ""}. Each is a lower bound with a confidence of ${percent(mu.level)}, for the best of ${mu.tried} thresholds, where ${one}s are independent trials: memberships were drawn independently, and no ${one}'s score moves with another's membership.${reasons} Neither says how private the training is: the true numbers may be far larger, and a training to which no noise was added promises no epsilon at all.`;
    const [input] = report.provenance.inputs;
    const ofUnits = units ? ` Each of these is a unit: ${units.records} records were taken together as ${units.units} units, by the mean of a unit's scores.` : "";
    // A file of one's own opens its tables once; the example leaves them as they are.
    unfolded ||= held.unread;
    held.unread = false;
    const rest = element("details", null, unfolded ? { open: "" } : {});
    rest.addEventListener("toggle", () => (unfolded = rest.open));
    rest.append(
      element("summary", "Rates, who is exposed, and what was assumed"),
      ...tables(report),
      table(
        "What was assumed, and what was not tested: read each line before you sign",
        ["Status", "What"],
        [...blanks(units), ...report.checklist.map((one) => [one.status, one.text])],
      ),
    );
    part("report").replaceChildren(
      element("p", `One attack (the column ${report.provenance.columns[0]}), ${members} members and ${others} non-members.${ofUnits}`),
      ...report.meaning.map((text) => element("p", text)),
      ...report.warnings.map((text) => element("p", `Note. ${text}`, { class: "audit-warning" })),
      element("p", `AUC ${ends(report.auc, number)}; 0.5 is guessing.`),
      curve(sides, report.level),
      element("p", bounds),
      rest,
      element("p", `${input.name}, SHA-256 ${input.sha256}. The command gives the same numbers: ${report.provenance.command} --output report`, { class: "audit-made" }),
    );
    part("save").hidden = false;
    shown = report;
    root.dataset.report = JSON.stringify(report);
  };

  const failed = (message) => {
    part("report").replaceChildren();
    part("save").hidden = true;
    delete root.dataset.report;
    status.textContent = message;
  };

  // What the training promised, by the option that the command has for it.
  const promises = { epsilon: "promised", mu: "promised-mu" };
  const promisedLevels = () => {
    const given = Object.entries(promises).filter(([, name]) => part(name).value !== "" || part(name).validity.badInput);
    return Object.fromEntries(
      given.map(([notion, name]) => {
        const value = Number(part(name).value);
        if (!(value > 0)) throw new Error(`Give a promised ${notion} above 0.`);
        return [notion, value];
      }),
    );
  };

  // Where the numbers come from; the page is of no edition of the package.
  const provenance = (level, delta, promised, { column, attacks }) => {
    const quoted = (words) => (/^[\w.+-]+$/.test(words) ? words : `'${words.replaceAll("'", `'"'"'`)}'`);
    const named = attacks.length > 1 ? [`--attack=${quoted(column)}`] : [];
    return {
      version: null,
      date: new Date().toISOString().slice(0, 10),
      command: ["membership audit", quoted(held.title), ...named, `--level=${level}`, `--delta=${delta}`, ...Object.entries(promised).map(([notion, value]) => `--${promises[notion]}=${value}`)].join(" "),
      inputs: [{ name: held.title, sha256: held.digest }],
      columns: [column],
    };
  };

  // The columns of scores among which one is chosen, if there are several.
  const offer = (attacks) => {
    part("attack").replaceChildren(element("option", "choose", { value: "" }), ...attacks.map((name) => element("option", name)));
    part("attack").parentElement.hidden = !attacks.length;
  };

  const work = () => {
    if (held === null) return;
    root.setAttribute("aria-busy", "true");
    status.textContent = `Computing from ${held.title} …`;
    // Once the sentence is on the screen.
    setTimeout(() => {
      try {
        const level = Number(part("level").value);
        const delta = Number(part("delta").value);
        if (!(part("delta").value !== "" && delta >= 0 && delta < 1)) throw new Error("Give a delta of at least 0 and below 1.");
        const promised = promisedLevels();
        const given = scores.read(held.text, held.title, part("attack").value || null);
        const report = { provenance: provenance(level, delta, promised, given), ...audit.report(given, level, delta, promised) };
        show(report, audit.sides(given.score, given.member));
        const note = held.example ? " An example with made-up scores: choose a file of yours." : "";
        const chosen = given.attacks.length > 1 ? ` The attack ${given.column} is one of ${given.attacks.length}. To pick the better one after looking has a price, which the command takes into account.` : "";
        status.textContent = `${held.title}: ${given.score.length} records.${note}${chosen}`;
      } catch (error) {
        if (error.attacks) offer(error.attacks);
        failed(error.message);
      }
      root.setAttribute("aria-busy", "false");
    }, 20);
  };
  const take = async (content, title, example = false) => {
    const own = (turn += 1);
    const text = await scores.text(content, title);
    // Pages that came over plain HTTP are given no digests.
    const digest = crypto.subtle && new Uint8Array(await crypto.subtle.digest("SHA-256", content));
    if (own !== turn) return; // another file was taken meanwhile
    offer([]);
    held = { text, title, example, unread: !example, digest: digest ? Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("") : null };
    work();
  };
  const open = (file) => {
    if (!file) return;
    file
      .arrayBuffer()
      .catch(() => Promise.reject(new Error(`${file.name} cannot be read.`)))
      .then((content) => take(content, file.name))
      .catch((error) => failed(error.message));
  };

  part("file").addEventListener("change", (event) => open(event.target.files[0]));
  const takeExample = () => take(new TextEncoder().encode(scores.example()).buffer, "example.csv", true);
  part("example").addEventListener("click", takeExample);
  ["level", "delta", "attack", ...Object.values(promises)].forEach((name) => part(name).addEventListener("change", work));
  root.addEventListener("dragover", (event) => {
    event.preventDefault();
    root.classList.add("audit-over");
  });
  root.addEventListener("dragleave", () => root.classList.remove("audit-over"));
  root.addEventListener("drop", (event) => {
    event.preventDefault();
    root.classList.remove("audit-over");
    open(event.dataTransfer.files[0]);
  });
  part("save").addEventListener("click", () => {
    const link = element("a", "", { download: "audit.json" });
    link.href = URL.createObjectURL(new Blob([`${JSON.stringify(shown, null, 2)}\n`], { type: "application/json" }));
    link.click();
    URL.revokeObjectURL(link.href);
  });

  // Once it can be seen, so that nobody waits for it elsewhere on the page.
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    if (turn === 0) takeExample();
  }).observe(root);
})();
