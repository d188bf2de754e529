// A file of scores, read as membership.tables does and checked as membership.audit.reading does.
"use strict";

const scores = {
  required: ["score", "member"],
  optional: ["group", "record", "unit", "target"],
  least: 20,
  truth: { true: 1, yes: 1, false: 0, no: 0 },

  separators: [",", ";", "\t", "|"],
  longest: 131072,
  index: /^(Unnamed:|__index_level_)/,
  noAttack: new RegExp(
    "^(?:(.+_)?(id|ids|idx|uid|uuid|guid|rowid|userid)" +
      "|(row|record|sample|example|data|original|orig|df|patient|person)_?(index|number|num|nr|no)" +
      "|index|level_\\d+|rows?|row_?names?|rn|nr|no|number|position|#" +
      "|((true|pred|predicted|target|class)_)?(label|labels|class|classes)|predicted" +
      "|y|y_(true|test|train|pred)|truth|ground_truth|target_?s|category|categories" +
      "|(is|in)_?(member|train|training|training_set)|membership|split|fold)$",
  ),
  hump: /(?<=[a-z0-9])(?=[A-Z])|[\s.-]+/g,
  number: /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/,
  withComma: /^[+-]?([0-9]+,?[0-9]*|,[0-9]+)([eE][+-]?[0-9]+)?$/,
  grouped: /^[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+$/,

  strip: (cell) => cell.replace(/^[ \t\r\n\xa0]+|[ \t\r\n\xa0]+$/g, ""),

  listed: (titles) => {
    const all = `'${titles.join(", ").replaceAll("\n", " ")}'`;
    return all.length <= 200 ? all : `${all.slice(0, 197)}...`;
  },

  // The text of a file's bytes: UTF-8, or UTF-16 that says so; packed by gzip or not.
  async text(buffer, name) {
    let bytes = new Uint8Array(buffer);
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
      const packed = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      try {
        bytes = new Uint8Array(await new Response(packed).arrayBuffer());
      } catch {
        throw new Error(`cannot read ${name}: damaged gzip, or packed in several parts; unpack it first.`);
      }
    }
    if (String.fromCharCode(...bytes.slice(0, 4)) === "PAR1")
      throw new Error(`${name} is a Parquet file, which the command reads and this page does not.`);
    const little = bytes[0] === 0xff && bytes[1] === 0xfe;
    const big = bytes[0] === 0xfe && bytes[1] === 0xff;
    const encoding = little ? "utf-16le" : big ? "utf-16be" : "utf-8";
    let text;
    try {
      text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    } catch {
      const line = new TextDecoder(encoding).decode(bytes).split("\ufffd")[0].split("\n").length;
      throw new Error(`${name}, line ${line}: no ${encoding.toUpperCase()} text; save the file as CSV in UTF-8.`);
    }
    if (text.includes("\0")) throw new Error(`${name} is no text; save the table as CSV in UTF-8.`);
    return text;
  },

  // What stands most often between the names of the first line that holds any.
  separator(source) {
    const first = source.split("\n").find((line) => scores.strip(line)) ?? "";
    const counts = scores.separators.map((each) => first.replace(/"[^"]*"/g, "").split(each).length);
    return scores.separators[counts.indexOf(Math.max(...counts))];
  },

  // Rows of cells, each with the line it begins on; blank rows are left out. A cell in double quotes
  // may hold separators, line breaks and doubled quotes.
  cells(source, separator, name) {
    const rows = [];
    let [row, cell, state, line, begun] = [[], "", "start", 1, 1];
    const wrong = (why) => {
      throw new Error(
        `${name}, line ${begun}: ${why}; a cell with a quotation mark, a separator or a line break in it is written in quotation marks, and "" stands for one.`,
      );
    };
    const endCell = () => {
      if (cell.length > scores.longest) wrong(`field larger than field limit (${scores.longest})`);
      row.push(scores.strip(cell));
      [cell, state] = ["", "start"];
    };
    const endRow = () => {
      endCell();
      if (row.some((each) => each !== "")) rows.push([begun, row]);
      row = [];
      begun = line + 1;
    };
    for (const c of source) {
      if (state === "quoted") {
        if (c === '"') state = "closed";
        else cell += c;
      } else if (state === "closed" && c === '"') {
        cell += c;
        state = "quoted";
      } else if (c === separator) endCell();
      else if (c === "\n") endRow();
      else if (state === "closed") wrong(`'${separator}' expected after '"'`);
      else if (state === "start" && c === '"') state = "quoted";
      else if (state === "cell" || c !== " ") {
        cell += c;
        state = "cell";
      }
      if (c === "\n") line += 1;
    }
    if (state === "quoted") wrong("unexpected end of data");
    endRow();
    return rows;
  },

  // {score, member, column, attacks, group, record, named, notRead} of a file; throws what is wrong with it, in a
  // sentence. `attack` names one of several columns of scores, as --attack does.
  read(text, name, attack = null) {
    const source = text.replace(/\r\n?/g, "\n");
    const separator = scores.separator(source);
    const [first, ...rows] = scores.cells(source, separator, name);
    if (!first) throw new Error(`${name} is empty; give a file with a line of column names.`);
    const header = first[1];
    rows.forEach(([line, row]) => {
      if (row.length !== header.length)
        throw new Error(
          `${name}, line ${line}: ${row.length} cells; its first line names ${header.length}: ${scores.listed(header)}.`,
        );
    });
    if (!rows.length) throw new Error(`${name} holds a line of column names and no records.`);
    const named = header.map((_, i) => i).filter((i) => header[i] || rows.some(([, row]) => row[i]));
    const [columns, attacks] = scores.columns(header, named, name, attack);
    const column = (title) => rows.map(([, row]) => row[columns[title]]);
    const refuse = (title, i, accepted) => {
      const cell = rows[i][1][columns[title]];
      const brief = (cell.length <= 40 ? cell : `${cell.slice(0, 40)}...`).replaceAll("\n", "\\n");
      throw new Error(
        `${name}, line ${rows[i][0]}: ${header[columns[title]]} is '${brief}'; give ${accepted}.`,
      );
    };
    if ("target" in columns && new Set(column("target")).size > 1)
      throw new Error(`${name} holds several target models, which the command tells apart and this page does not.`);
    const score = scores.numbers(column("score"), separator);
    const own = header[columns.score].toLowerCase() !== "score";
    const number = `a finite number${own ? "; where the column is no score, `--attack COLUMN` names those that are" : ""}`;
    score.forEach((value, i) => Number.isFinite(value) || refuse("score", i, number));
    const words = column("member").map((cell) => scores.truth[cell.toLowerCase()]);
    const member = scores.numbers(column("member"), separator).map((value, i) => {
      const truth = words[i] ?? value;
      return truth === 0 || truth === 1 ? truth === 1 : refuse("member", i, "0 or 1, false or true, no or yes");
    });
    const given = (title) => (title in columns ? column(title) : null);
    const used = Object.values(columns);
    const notRead = named.filter((i) => !used.includes(i)).map((i) => header[i] || "one without a name");
    const unit = given("unit");
    unit?.forEach((cell, i) => cell === "" && refuse("unit", i, "the unit's name"));
    const found = { score, member, column: header[columns.score], attacks, group: given("group"), named: "record" in columns, record: given("record") ?? score.map((_, i) => String(i)), unit, notRead };
    const unread = unit ? [] : named.filter((i) => !used.includes(i)).map((i) => [header[i], rows.map(([, row]) => row[i])]);
    const kept = rowsOf.settled(found, unread);
    scores.check(kept);
    return kept;
  },

  // Cells as numbers, NaN where they are none; with decimal commas where those can be nothing else.
  numbers(cells, separator) {
    const commas = cells.filter((cell) => cell.includes(","));
    const decimal =
      separator !== "," &&
      !cells.some((cell) => cell.includes(".") && scores.number.test(cell)) &&
      commas.some((cell) => scores.withComma.test(cell) && !scores.grouped.test(cell));
    const form = decimal ? scores.withComma : scores.number;
    return cells.map((cell) => (form.test(cell) ? Number(cell.replace(",", ".")) : NaN));
  },

  // Where the columns of an audit are, and those among which `attack` chooses its score. Of a file without a
  // column score all others are scores.
  columns(header, named, name, attack) {
    const titles = named.map((i) => header[i]);
    const twice = titles.find((title, i) => titles.indexOf(title) !== i);
    if (twice !== undefined) {
      const count = titles.filter((title) => title === twice).length;
      throw new Error(`${name}: ${count} columns ${twice ? `are named '${twice}'` : "have no name"}; name each column once.`);
    }
    const found = {};
    const seen = {};
    let attacks = [];
    named.forEach((i) => {
      const plain = header[i].toLowerCase();
      if (plain in seen) throw new Error(`${name}: columns '${seen[plain]}' and '${header[i]}' are both ${plain}.`);
      seen[plain] = header[i];
      if ([...scores.required, ...scores.optional].includes(plain)) found[plain] = i;
    });
    if ("member" in found && !("score" in found)) {
      const own = named.filter((i) => !Object.values(found).includes(i) && header[i] && !scores.index.test(header[i]));
      const odd = own.find((i) => scores.noAttack.test(header[i].replace(scores.hump, "_").toLowerCase()));
      if (odd !== undefined)
        throw new Error(
          `${name}: column '${header[odd]}' is no attack by its name; leave it out, or name the columns that are scores, each by \`--attack COLUMN\`, in Python by attacks=[...].`,
        );
      attacks = own.map((i) => header[i]);
      const chosen = own.length > 1 ? own.find((i) => header[i] === attack) : own[0];
      if (chosen !== undefined) found.score = chosen;
      else if (own.length)
        throw Object.assign(
          new Error(`${name} holds several attacks, ${scores.listed(attacks)}: choose one here, or compare them by the command.`),
          { attacks },
        );
    }
    const missing = scores.required.filter((title) => !(title in found));
    if (missing.length)
      throw new Error(
        `${name} lacks ${missing.join(", ")}; its columns are ${scores.listed(titles)}; those of an audit are score, member and, if wanted, group, record, unit.`,
      );
    return [found, attacks];
  },

  check({ score, member, units }) {
    const of = units ? "units" : "records";
    const members = member.filter(Boolean).length;
    const fewest = Math.min(members, member.length - members);
    if (!fewest) throw new Error(`member holds ${members ? "members" : "non-members"} only; give at least one of each.`);
    if (score.length < scores.least)
      throw new Error(`score: ${score.length} ${of}; an audit needs at least ${scores.least}.`);
    if (fewest < 4) throw new Error(`member: ${members} members and ${member.length - members} non-members${units ? " among units" : ""}; give at least 4 of each.`);
    if (new Set(score).size === 1)
      throw new Error(`score: all ${score.length} ${of} have ${score[0]}; nothing to rank.`);
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
