// The overview of all verdicts and the table of attacks: filters, and columns that sort. Without this
// script everything is shown, in the order of the book.
"use strict";

// Of what is pressed in a group a row has any, or, where the group says "all", nothing besides.
function fits(row, groups) {
  return groups.every(({ name, all, chosen }) => {
    if (!chosen.length) return true;
    const own = (row.dataset[name] ?? "").split("|");
    return all ? own.every((need) => chosen.includes(need)) : chosen.some((one) => own.includes(one));
  });
}

function pressed(form) {
  return [...form.querySelectorAll("fieldset")].map((group) => ({
    name: group.dataset.group,
    all: "all" in group.dataset,
    chosen: [...group.querySelectorAll('[aria-pressed="true"]')].flatMap((button) => [
      button.value,
      ...(button.dataset.implies ?? "").split("|").filter(Boolean),
    ]),
  }));
}

// What the groups of buttons that say a count count.
const COUNTED = {
  verdict: ".overview-exhibits .o-numbers > tbody > tr",
  outcome: ".overview-claims > tbody > tr",
};

// A count is of what the other groups leave; a group that is about the other table leaves everything.
function tellCounts(form, groups) {
  for (const count of form.querySelectorAll("[data-count]")) {
    const { value, parentElement } = count.closest("button");
    const name = parentElement.dataset.group;
    const others = groups.filter((group) => group.name !== name);
    count.textContent = [...document.querySelectorAll(COUNTED[name])].filter((item) => {
      const row = item.closest(".o-table > tbody > tr");
      return item.dataset[name] === value && fits(row, others.filter((group) => group.name in row.dataset));
    }).length;
  }
}

// Under a heading that the filters leave nothing of, a line says so.
function tellUnmatched(tables) {
  for (const line of document.querySelectorAll("[data-unmatched]")) {
    const own = tables.filter((table) => table.dataset.of === line.dataset.unmatched);
    line.hidden = own.some((table) => [...table.tBodies[0].rows].some((row) => !row.hidden));
  }
}

function show(form, tables) {
  const groups = pressed(form);
  const asked = groups.filter((group) => group.chosen.length && group.name !== "paper");
  const told = new Map();
  for (const table of tables) {
    const rows = [...table.tBodies[0].rows];
    const here = groups.filter(({ name }) => name in rows[0].dataset);
    // Filters that are about the other table only leave nothing of this one.
    const foreign = asked.length > 0 && !asked.some((group) => here.includes(group));
    for (const row of rows) row.hidden = foreign || !fits(row, here);
    const counted = rows.filter((row) => !("beside" in row.dataset));
    const shown = counted.filter((row) => !row.hidden).length;
    const [before, all] = told.get(table.dataset.of) ?? [0, 0];
    told.set(table.dataset.of, [before + shown, all + counted.length]);
    const chapter = table.closest(".o-chapter");
    if (chapter) {
      const chosen = groups.some((group) => group.chosen.length);
      chapter.hidden = rows.every((row) => row.hidden);
      chapter.open = chosen && !chapter.hidden;
    }
  }
  const verdicts = groups.filter(({ name }) => name === "verdict");
  for (const fold of document.querySelectorAll(".overview-exhibits details:has(.o-numbers)")) {
    fold.open = verdicts[0].chosen.length > 0 && !fold.closest("tr").hidden;
    for (const row of fold.querySelectorAll(".o-numbers > tbody > tr")) row.hidden = !fits(row, verdicts);
  }
  const words = [...told].map(([name, [shown, all]]) => `${shown} of ${all} ${name}`);
  form.querySelector('[role="status"]').textContent = `${words.join(", ")} shown.`;
  tellCounts(form, groups);
  tellUnmatched(tables);
}

// A link to this page leads to what is shown now.
function keepAddress(form) {
  const query = new URLSearchParams([...form.querySelectorAll('[aria-pressed="true"]')].map(({ value }) => ["show", value]));
  try {
    history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}${location.hash}`);
  } catch { /* a page from the disk may keep its address in some browsers */ }
}

// One order for the tables of all chapters.
function sortAll(tables, table, column) {
  const down = table.tHead.rows[0].cells[column].getAttribute("aria-sort") === "ascending";
  for (const other of tables) {
    if (other.dataset.of === table.dataset.of) sort(other, column, down);
  }
}

function sort(table, column, down) {
  const body = table.tBodies[0];
  const header = table.tHead.rows[0].cells[column];
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
  const rows = [...body.rows].sort((a, b) => key(a).localeCompare(key(b), "en", { numeric: true }));
  body.append(...(down ? rows.reverse() : rows));
}

function makeSortable(table, tables) {
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sortAll(tables, table, column));
    header.append(button);
  });
}

document.addEventListener("DOMContentLoaded", () => {
  const tables = [...document.querySelectorAll(".o-table")];
  for (const table of tables) makeSortable(table, tables);
  const form = document.querySelector(".o-filters");
  if (!form) return;
  form.hidden = false;
  form.addEventListener("click", (event) => {
    if (event.target.closest("[data-open]")) {
      for (const chapter of document.querySelectorAll(".o-chapter")) chapter.open = true;
    }
    const button = event.target.closest("button[aria-pressed]");
    if (!button) return;
    button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
    show(form, tables);
    keepAddress(form);
  });
  form.addEventListener("reset", () => {
    for (const button of form.querySelectorAll("[aria-pressed]")) button.setAttribute("aria-pressed", false);
    show(form, tables);
    keepAddress(form);
  });
  const asked = new URLSearchParams(location.search).getAll("show");
  for (const button of form.querySelectorAll("[aria-pressed]")) {
    if (asked.includes(button.value)) button.setAttribute("aria-pressed", true);
  }
  show(form, tables);
  if (asked.length) form.scrollIntoView();
});
