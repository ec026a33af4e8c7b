"use strict";
// Everything here is a convenience: the page says the same without it.
for (const controls of document.querySelectorAll("[data-controls]")) {
  const table = document.getElementById(controls.dataset.controls);
  const body = table.tBodies[0];
  const find = controls.querySelector("[data-find]");
  const show = controls.querySelector("[data-show]");
  const count = controls.querySelector("[data-count]");
  const texts = new Map(Array.from(body.rows, (row) => [row, row.textContent.toLowerCase()]));

  const filter = () => {
    const wanted = find.value.trim().toLowerCase();
    let shown = 0;
    for (const [row, text] of texts) {
      row.hidden = !((!show.value || row.className === show.value) && text.includes(wanted));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = shown + " of " + texts.size + " shown";
  };

  const value = (row, column) => row.cells[column].textContent;
  const order = (column, sign) => (a, b) => {
    const [x, y] = [value(a, column), value(b, column)];
    const [p, q] = [Number(x), Number(y)];
    const numbers = x !== "" && y !== "" && !Number.isNaN(p) && !Number.isNaN(q);
    return sign * (numbers ? p - q : x.localeCompare(y));
  };

  const sort = (header, column) => {
    const up = header.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", up ? "ascending" : "descending");
    body.append(...Array.from(body.rows).sort(order(column, up ? 1 : -1)));
  };

  Array.from(table.tHead.rows[0].cells).forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    header.append(button);
    button.addEventListener("click", () => sort(header, column));
  });
  find.addEventListener("input", filter);
  show.addEventListener("change", filter);
  controls.hidden = false;
  filter();
}
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
