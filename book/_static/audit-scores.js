// A file of scores, read and checked as membership.audit.reading does.
"use strict";

const scores = {
  required: ["score", "member"],
  optional: ["group", "record"],
  least: 20,
  truth: { 1: true, true: true, "1.0": true, 0: false, false: false, "0.0": false },

  // Rows of cells; a cell in double quotes may hold commas, line breaks and doubled quotes.
  cells(text) {
    const rows = [];
    let row = [];
    let cell = "";
    let quoted = false;
    const endCell = () => {
      row.push(cell);
      cell = "";
    };
    const endRow = () => {
      endCell();
      if (row.length > 1 || row[0] !== "") rows.push(row);
      row = [];
    };
    const source = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
    for (let i = 0; i < source.length; i += 1) {
      const c = source[i];
      if (quoted) {
        if (c !== '"') cell += c;
        else if (source[i + 1] === '"') cell += source[(i += 1)];
        else quoted = false;
      } else if (c === '"' && cell.trim() === "") {
        cell = "";
        quoted = true;
      } else if (c === ",") endCell();
      else if (c === "\n") endRow();
      else cell += cell === "" && c === " " ? "" : c;
    }
    if (cell !== "" || row.length) endRow();
    return rows;
  },

  // {score, member, group, record} of a file; throws what is wrong with it, in a sentence.
  read(text, name) {
    const [header, ...rows] = scores.cells(text);
    if (!header) throw new Error(`${name} is no CSV file with a line of column names.`);
    scores.checkColumns(header, name);
    rows.forEach((row, i) => {
      if (row.length !== header.length)
        throw new Error(`${name}, line ${i + 2}: ${row.length} cells; its first line names ${header.length} columns.`);
    });
    const column = (title) => rows.map((row) => row[header.indexOf(title)]);
    const refuse = (title, i, cell, accepted) => {
      const shown = cell.length <= 40 ? cell : `${cell.slice(0, 40)}...`;
      throw new Error(`${name}, line ${i + 2}: ${title} is '${shown}'; give ${accepted}.`);
    };
    const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
    const score = column("score").map((cell, i) => {
      const value = number.test(cell.trim()) ? Number(cell) : NaN;
      return Number.isFinite(value) ? value : refuse("score", i, cell, "a finite number");
    });
    const member = column("member").map((cell, i) => {
      const value = scores.truth[cell.trim().toLowerCase()];
      return value === undefined ? refuse("member", i, cell, "0 or 1, false or true") : value;
    });
    const given = (title) => (header.includes(title) ? column(title) : null);
    const found = { score, member, group: given("group"), record: given("record") ?? score.map((_, i) => String(i)) };
    scores.check(found);
    return found;
  },

  checkColumns(header, name) {
    const allowed = [...scores.required, ...scores.optional];
    const missing = scores.required.filter((title) => !header.includes(title));
    const unknown = header.filter((title, i) => !allowed.includes(title) || header.indexOf(title) !== i);
    if (!missing.length && !unknown.length) return;
    const wrong = missing.length ? `lacks ${missing.join(", ")}` : `has ${unknown.map((title) => `'${title}'`).join(", ")}`;
    throw new Error(`${name} ${wrong}; the columns of an audit are score, member and, if wanted, group, record.`);
  },

  check({ score, member }) {
    const members = member.filter(Boolean).length;
    const fewest = Math.min(members, member.length - members);
    if (score.length < scores.least)
      throw new Error(`score: ${score.length} records; an audit needs at least ${scores.least}.`);
    if (!fewest) throw new Error(`member holds ${members ? "members" : "non-members"} only; give at least one of each.`);
    if (fewest < 4) throw new Error(`member: ${fewest} records of one class; a bound needs at least 4.`);
    if (new Set(score).size === 1)
      throw new Error(`score: all ${score.length} records have ${score[0]}; nothing to rank.`);
  },

  // Scores with a known answer, for trying the page: members N(1, 1), others N(0, 1), by quantiles.
  example() {
    const side = (n, shift) => Array.from({ length: n }, (_, i) => shift - game.thresholdAt((i + 0.5) / n));
    const lines = [1, 0].flatMap((member) =>
      side(1000, member).map((score, i) => `${score.toFixed(6)},${member},${i % 2 ? "odd" : "even"}`),
    );
    return ["score,member,group", ...lines].join("\n");
  },
};
