// Small helpers that the other modules share: elements, text with links, JSON, and a number for each page.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

// "*words*" becomes emphasis and "[words](/address)" a link; everything else stays plain text.
export function inline(text) {
  return text.split(/(\*[^*]+\*|\[[^\]]+\]\([^)]+\))/).map((part) => {
    const link = part.match(/^\[(.+)\]\((.+)\)$/);
    if (link) return h("a", { href: link[2] }, link[1]);
    return /^\*.+\*$/.test(part) ? h("em", {}, part.slice(1, -1)) : part;
  });
}

const loaded = new Map();

export function load(path) {
  if (!loaded.has(path)) {
    loaded.set(path, fetch(path).then((response) => {
      if (!response.ok) throw new Error(`${path} answered ${response.status}`);
      return response.json();
    }));
  }
  return loaded.get(path);
}

// The same page always gets the same number, so what varies from page to page does not vary from visit to visit.
export function pageNumber(route) {
  return [...route].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 9973, 7);
}

export function table(rows, { head, sideways = false }) {
  const cells = (row) => row.map((cell, i) => (sideways && i === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell)));
  return h("div", { class: "table" }, h("table", {},
    head ? h("thead", {}, h("tr", {}, head.map((cell) => h("th", { scope: "col" }, cell)))) : null,
    h("tbody", {}, rows.map((row) => h("tr", {}, cells(row))))));
}
