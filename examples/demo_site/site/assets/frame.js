// Everything around the content: header, menu, sidebar, adverts, footer, consent box, and the text nobody sees.
import { h, pageNumber } from "./dom.js";

export function toast(message) {
  const box = document.querySelector(".toast");
  box.textContent = message;
  box.classList.add("shown");
  setTimeout(() => box.classList.remove("shown"), 2000);
}

export function hiddenParts(site) {
  return [
    h("a", { class: "visually-hidden skip", href: "#content" }, "Skip to the content"),
    h("a", { class: "visually-hidden skip", href: "#sidebar" }, "Skip to the sidebar"),
    h("div", { class: "off-screen" }, site.seo),
    h("div", { class: "edge", "aria-hidden": "true" }, site.edge),
    h("div", { class: "tooltip" }, site.hidden.tooltip),
    h("div", { class: "basket-dialog" }, h("p", {}, site.hidden.dialog)),
  ];
}

export function drawFrame(site) {
  const search = h("form", { class: "search", role: "search", action: "/articles" },
    h("label", { class: "visually-hidden", for: "q" }, "Search the articles"),
    h("input", { id: "q", name: "q", type: "search", placeholder: "Search" }),
    h("button", {}, "Find"));
  return [
    h("header", { class: "site-header" },
      h("div", { class: "wrap" },
        h("a", { class: "brand", href: "/" },
          h("img", { src: "/assets/icon.svg", alt: "", width: 44, height: 44 }),
          h("span", {}, h("strong", {}, site.name), h("small", {}, site.tagline))),
        search,
        h("nav", { class: "menu", "aria-label": "Main menu" },
          h("ul", {}, site.menu.map(({ label, href }) => h("li", {}, h("a", { href }, label))))))),
    h("div", { class: "wrap columns" },
      h("main", { id: "content", tabindex: "-1" }),
      h("aside", { id: "sidebar", tabindex: "-1", "aria-label": "More from the club" })),
    h("footer", { class: "site-footer" },
      h("div", { class: "wrap" }, site.footer.map(({ title, lines }) =>
        h("section", {}, h("h2", {}, title), lines.map((line) => h("p", {}, line)))))),
    h("div", { class: "toast", role: "status" }, "Link copied to your clipboard"),
  ];
}

function advert({ title, text, action }) {
  return h("aside", { class: "advert", "aria-label": "Advertisement" },
    h("span", { class: "label" }, "Advertisement"),
    h("strong", {}, title), h("p", {}, text), h("span", { class: "action" }, action));
}

// By the number of the page: one advert in the sidebar, one in the content, both, or none.
function adverts(site, address) {
  const number = pageNumber(address);
  const pick = (step) => advert(site.adverts[(number + step) % site.adverts.length]);
  const place = number % 4;
  return { side: place === 0 || place === 2 ? pick(0) : null, inside: place === 1 || place === 2 ? pick(3) : null };
}

function newsletter({ title, text, label, button, privacy, thanks }) {
  const form = h("form", { class: "newsletter" },
    h("h2", {}, title), h("p", {}, text),
    h("label", { for: "mail" }, label),
    h("input", { id: "mail", type: "email", required: true, autocomplete: "email" }),
    h("button", {}, button),
    h("details", {}, h("summary", {}, "What happens to it"), h("p", {}, privacy)));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    form.replaceChildren(h("h2", {}, title), h("p", { role: "status" }, thanks));
  });
  return form;
}

function sidebar(site, articles, address, side) {
  const start = pageNumber(address);
  const others = articles.filter(({ slug }) => address !== `/articles/${slug}`);
  const related = [0, 2, 3, 5].map((step) => others[(start + step) % others.length]);
  return [
    h("section", { class: "related" },
      h("h2", {}, "Readers also liked"),
      h("ul", {}, related.map(({ slug, title }) => h("li", {}, h("a", { href: `/articles/${slug}` }, title))))),
    side,
    newsletter(site.newsletter),
    h("section", { class: "tags" },
      h("h2", {}, "By subject"),
      h("ul", {}, site.tags.map(({ label, weight }) =>
        h("li", {}, h("a", { href: `/articles?tag=${label}`, "data-weight": weight }, label))))),
  ].filter(Boolean);
}

function breadcrumb(trail, title) {
  const steps = [["Home", "/"], ...trail].map(([label, href]) => h("li", {}, h("a", { href }, label)));
  return h("nav", { class: "breadcrumb", "aria-label": "You are here" },
    h("ol", {}, steps, h("li", { "aria-current": "page" }, title)));
}

export function drawPage({ site, articles, address, title, trail, content }) {
  document.title = address === "/" ? site.name : `${title} · ${site.name}`;
  for (const link of document.querySelectorAll(".menu a")) {
    const href = link.getAttribute("href");
    const here = href === "/" ? address === "/" : address.startsWith(href);
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const { side, inside } = adverts(site, address);
  const slot = content.querySelector(".advert-slot");
  if (inside) slot?.replaceWith(inside);
  else slot?.remove();
  document.querySelector("#content").replaceChildren(
    ...(address === "/" ? [] : [breadcrumb(trail, title)]), content);
  document.querySelector("#sidebar").replaceChildren(...sidebar(site, articles, address, side));
}

export function shareButtons(title) {
  const copy = h("button", { type: "button" }, "Copy the link");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(location.href);
    toast("Link copied to your clipboard");
  });
  const print = h("button", { type: "button" }, "Print");
  print.addEventListener("click", () => window.print());
  const mail = h("a", { href: `mailto:?subject=${encodeURIComponent(title)}&body=${encodeURIComponent(location.href)}` }, "Send by e-mail");
  return h("div", { class: "share", role: "group", "aria-label": "Share this page" }, copy, mail, print);
}

// "Read next" repeats the titles and summaries of other pages, as such boxes do everywhere.
export function teasers(title, entries) {
  return h("section", { class: "teasers" },
    h("h2", {}, title),
    h("ul", {}, entries.map(({ href, name, summary }) =>
      h("li", {}, h("a", { href }, name), h("p", {}, summary)))));
}

export function consentBox({ consent }) {
  if (localStorage.getItem("crumbs")) return;
  const box = h("section", { class: "consent", role: "dialog", "aria-labelledby": "consent-title" });
  const button = (label, answer, kind) => {
    const element = h("button", { type: "button", class: kind }, label);
    element.addEventListener("click", () => {
      if (answer) localStorage.setItem("crumbs", "yes");
      box.remove();
    });
    return element;
  };
  box.append(h("h2", { id: "consent-title" }, consent.title), h("p", {}, consent.text),
    h("div", {}, button(consent.accept, true, "primary"), button(consent.refuse, false, "plain")));
  document.body.append(box);
}
