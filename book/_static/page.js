// What the theme leaves without a name or with a role that does not fit, for screen readers.
"use strict";

// The theme listens to the first button of each kind only, and that one is hidden: the others pass
// their clicks on to it, and all tell whether their menu is open.
function connectMenu(kind) {
  const menu = document.getElementById(`pst-${kind}-sidebar`);
  const modal = document.getElementById(`pst-${kind}-sidebar-modal`);
  const [bound, ...others] = document.querySelectorAll(`.${kind}-toggle`);
  if (!bound || !menu || !modal) return;
  for (const other of others) other.addEventListener("click", () => bound.click());
  const beside = window.matchMedia("(min-width: 992px)");
  const tell = () => {
    const shown = beside.matches && kind === "primary" && !menu.classList.contains("pst-sidebar-hidden");
    for (const each of [bound, ...others]) each.setAttribute("aria-expanded", modal.open || shown);
  };
  for (const watched of [menu, modal]) {
    new MutationObserver(tell).observe(watched, { attributes: true });
  }
  // On a phone the menu would stay above the place that it led to.
  modal.addEventListener("click", (event) => event.target.closest("a[href^='#']") && modal.close());
  beside.addEventListener("change", tell);
  tell();
}

// What stood on a chapter's page may stand on its details now: an old link to it leads there.
function followTarget() {
  const details = location.pathname.replace(/^.*\/([\w-]+)\.html$/, "$1_details.html");
  const link = document.querySelector(`.bd-sidebar-primary a[href="${details}"]`);
  if (link) location.replace(link.href + location.hash);
}

// A link into a closed fold opens it.
function openTarget() {
  const name = decodeURIComponent(location.hash.slice(1));
  const target = document.getElementById(name);
  if (name && !target) followTarget();
  let fold = target?.closest("details:not([open])");
  if (!fold) return;
  for (; fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
}

// Tables as a phone shows them. One of sentences becomes blocks: each cell says its column's name, and roles keep
// what a screen reader is told of rows and cells. One of numbers scrolls, and its long cells get room.
const ROLES = { THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };

function countWords(cell) {
  return cell.textContent.trim().split(/\s+/).length;
}

function keepRoles(table) {
  table.setAttribute("role", "table");
  for (const part of table.querySelectorAll(":scope > :is(thead, tbody), :scope > * > tr, :scope > * > tr > :is(th, td)")) {
    const head = part.scope?.startsWith("row") ? "rowheader" : "columnheader";
    part.setAttribute("role", part.tagName === "TH" ? head : ROLES[part.tagName]);
  }
}

function nameCells(table) {
  const names = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.textContent.trim());
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => row.cells.length === names.length);
  const cells = rows.flatMap((row) => [...row.cells].slice(1));
  const numbers = cells.filter((cell) => /^[-−+±]?[\d.]/.test(cell.textContent.trim())).length;
  if (names.length < 3 || numbers >= cells.length / 2 || Math.max(...cells.map(countWords)) < 8) return;
  table.classList.add("sentences");
  keepRoles(table);
  for (const row of rows) [...row.cells].forEach((cell, i) => (cell.dataset.label = names[i]));
}

function fitTables() {
  document.querySelectorAll(".bd-content .pst-scrollable-table-container > table").forEach(nameCells);
  document.querySelectorAll(".claims table, .o-table, .o-numbers, .o-wall, .landing table").forEach(keepRoles);
  for (const cell of document.querySelectorAll(".bd-content table:not(.forest) > tbody > tr > :is(th, td)")) {
    if (countWords(cell) >= 10) cell.classList.add("wordy");
  }
}

document.addEventListener("DOMContentLoaded", () => {
  fitTables();
  openTarget();
  window.addEventListener("hashchange", openTarget);
  connectMenu("primary");
  connectMenu("secondary");
  const logo = document.querySelector(".sidebar-primary-item .navbar-brand")?.closest(".sidebar-primary-item");
  logo?.setAttribute("role", "region"); // everything on a page has a place that readers can jump to
  logo?.setAttribute("aria-label", "The book");
  for (const summary of document.querySelectorAll(".bd-sidebar-primary summary")) {
    const page = summary.closest("li").querySelector("a").textContent.trim();
    summary.setAttribute("aria-label", `Pages under ${page}`);
  }
  // A formula that is wider than its place scrolls, by keyboard too.
  window.MathJax?.startup?.promise?.then(() => {
    for (const formula of document.querySelectorAll('mjx-container[display="true"]')) formula.tabIndex = 0;
  });
  for (const entry of document.querySelectorAll('[role="list"] > [role="doc-biblioentry"]')) {
    entry.setAttribute("role", "listitem");
  }
});
