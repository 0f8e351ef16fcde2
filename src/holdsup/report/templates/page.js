"use strict";

const root = document.documentElement;
const said = document.getElementById("said");
const tip = document.getElementById("tip");

// Light or dark: as the reader's system says, until the button is pressed. Nothing is stored.
const scheme = document.getElementById("scheme");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.scheme ? root.dataset.scheme === "dark" : dark.matches);
const nameScheme = () => { scheme.textContent = isDark() ? "Light" : "Dark"; };
scheme.hidden = false;
scheme.addEventListener("click", () => { root.dataset.scheme = isDark() ? "light" : "dark"; nameScheme(); });
dark.addEventListener("change", nameScheme);
nameScheme();

// Folds: what a link leads into is opened, and paper has no folds, but for very long tables.
const LONG = 40;
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target?.querySelector("details.whole") ?? target?.closest("details");
  if (fold) fold.open = true;
}
window.addEventListener("hashchange", unfold);
unfold();
window.addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details")) {
    if ((fold.querySelector("tbody")?.rows.length ?? 0) <= LONG || fold.classList.contains("whole")) fold.open = true;
  }
});

// Sorting: up, down, and back to the order that the table came in.
const NEXT = { none: "ascending", ascending: "descending", descending: "none" };
const letters = new Intl.Collator("en", { numeric: true });

function compare(a, b) {
  const [x, y] = [a.dataset.key, b.dataset.key];
  if (x !== undefined && y !== undefined) return x - y;
  if (x !== undefined || y !== undefined) return x === undefined ? 1 : -1;
  return letters.compare(a.textContent, b.textContent);
}

function isMissing(cell) { return cell.dataset.key === undefined && cell.textContent === "-"; }

function sort(head) {
  const body = head.closest("table").tBodies[0];
  body.original ??= [...body.rows];
  const order = NEXT[head.getAttribute("aria-sort")];
  for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", order);
  const rows = [...body.original];
  const sign = order === "descending" ? -1 : 1;
  const place = head.cellIndex;
  if (order !== "none") {
    rows.sort((a, b) => {
      const [x, y] = [a.cells[place], b.cells[place]];
      return isMissing(x) - isMissing(y) || sign * compare(x, y);
    });
  }
  body.append(...rows);
}

for (const button of document.querySelectorAll("button.sort")) {
  button.addEventListener("click", () => sort(button.closest("th")));
}

// Copying: where the browser lets no page write to the clipboard, the text is selected and copied the old way.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

for (const button of document.querySelectorAll("button.copy")) {
  button.addEventListener("click", async () => {
    const name = button.textContent;
    await copy(button.dataset.copy);
    said.textContent = button.getAttribute("aria-label").replace("Copy", "Copied");
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = name; }, 1500);
  });
}

// Points say what they are: under the pointer, or with the arrow keys when a picture has the focus.
function showTip(point) {
  for (const other of document.querySelectorAll(".point.shown")) other.classList.remove("shown");
  tip.hidden = point === null;
  if (point === null) return;
  point.classList.add("shown");
  tip.textContent = point.dataset.says;
  const box = point.getBoundingClientRect();
  const left = Math.min(box.right + 8, root.clientWidth - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(8, left) + window.scrollX}px`;
  tip.style.top = `${box.bottom + 8 + window.scrollY}px`;
}

for (const title of document.querySelectorAll(".point > title")) {
  title.parentElement.dataset.says = title.textContent;
  title.remove();
}

for (const drawing of document.querySelectorAll(".drawing")) {
  const points = [...drawing.querySelectorAll(".point")].filter(
    (point, i, all) => i === 0 || point.dataset.says !== all[i - 1].dataset.says,
  );
  let at = -1;
  drawing.addEventListener("pointerover", (event) => showTip(event.target.closest(".point")));
  drawing.addEventListener("pointerleave", () => showTip(null));
  drawing.addEventListener("blur", () => { at = -1; showTip(null); });
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") showTip(null);
    if (step === undefined || points.length === 0) return;
    event.preventDefault();
    at = at < 0 && step < 0 ? points.length - 1 : (at + step + points.length) % points.length;
    showTip(points[at]);
  });
}
