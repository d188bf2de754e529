// The records of a picture one by one: what the mouse is over, or what is chosen by touch or arrow
// keys, is shown large with its label and its rank by every measure. Without this script the picture
// stands alone.
"use strict";

function rankRow(measure, value, rank, of) {
  const row = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.textContent = measure;
  const cells = [value, `${rank} of ${of}`].map((text) => {
    const cell = document.createElement("td");
    cell.textContent = text;
    return cell;
  });
  // How many of the records lie behind.
  const bar = document.createElement("span");
  bar.className = "records-bar";
  bar.style.width = `${of > 1 ? (100 * (of - rank)) / (of - 1) : 100}%`;
  cells[1].append(bar);
  row.append(head, ...cells);
  return row;
}

function makeRecords(holder, number) {
  const { measures, records } = JSON.parse(holder.dataset.records);
  const grid = document.createElement("div");
  grid.className = "records-grid";
  grid.setAttribute("role", "radiogroup");
  grid.setAttribute("aria-label", "Record shown");
  const panel = document.createElement("div");
  panel.className = "records-panel";
  panel.setAttribute("aria-live", "polite");
  const picture = document.createElement("img");
  const table = document.createElement("table");
  const caption = document.createElement("caption");
  const head = document.createElement("thead");
  head.innerHTML = '<tr><th scope="col">Measure</th><th scope="col">Value</th><th scope="col">Rank</th></tr>';
  const body = document.createElement("tbody");
  table.append(caption, head, body);
  panel.append(picture, table);
  let chosen = 0;

  function show(i) {
    const { picture: source, label, values, ranks, of } = records[i];
    picture.src = source;
    picture.alt = label;
    caption.textContent = label;
    body.replaceChildren(...measures.map((measure, k) => rankRow(measure, values[k], ranks[k], of)));
  }

  records.forEach(({ picture: source, label }, i) => {
    const choice = document.createElement("label");
    const radio = document.createElement("input");
    radio.type = "radio";
    radio.name = `records-${number}`;
    radio.checked = i === 0;
    radio.addEventListener("change", () => show((chosen = i)));
    const small = document.createElement("img");
    small.src = source;
    small.alt = label;
    choice.addEventListener("mouseenter", () => show(i));
    choice.append(radio, small);
    grid.append(choice);
  });
  grid.addEventListener("mouseleave", () => show(chosen));
  show(0);
  holder.append(panel, grid);
  holder.hidden = false;
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-records]").forEach(makeRecords);
});
