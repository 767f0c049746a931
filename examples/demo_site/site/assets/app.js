// Finds the view that belongs to the address, draws it, and follows links without leaving the document.
import { h, load } from "./dom.js";
import { articleList, article, home, sightings } from "./magazine.js";
import { consentBox, drawFrame, drawPage, hiddenParts } from "./frame.js";
import { product, shop } from "./shop.js";

const VIEWS = [
  [/^\/$/, home],
  [/^\/articles$/, articleList],
  [/^\/articles\/([a-z-]+)$/, article],
  [/^\/sightings$/, sightings],
  [/^\/shop$/, shop],
  [/^\/shop#\/product\/([a-z-]+)$/, product],
];

function route() {
  const hash = location.hash.startsWith("#/") ? location.hash : "";
  return (location.pathname.replace(/\/$/, "") || "/") + hash;
}

function missing() {
  return {
    title: "No such page",
    trail: [],
    content: h("article", { class: "prose" },
      h("h1", {}, "No such page"),
      h("p", {}, "The page you asked for has flown. Try the menu above.")),
  };
}

async function view(address) {
  for (const [pattern, draw] of VIEWS) {
    const found = address.match(pattern);
    if (found) return draw(...found.slice(1)).catch(missing);
  }
  return missing();
}

let shown = null;

async function show() {
  const address = route();
  const key = address + location.search;
  if (key === shown) return;
  const first = shown === null;
  shown = key;
  const [site, articles, page] = await Promise.all([load("/api/site.json"), load("/api/articles.json"), view(address)]);
  if (key !== shown) return; // another link was followed in the meantime
  drawPage({ site, articles: articles.articles, address, ...page });
  if (!first) {
    scrollTo(0, 0);
    document.querySelector("#content").focus({ preventScroll: true });
  }
}

document.addEventListener("click", (event) => {
  const link = event.composedPath().find((node) => node.localName === "a");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  if (link.origin !== location.origin) return;
  event.preventDefault();
  const target = link.getAttribute("href");
  if (target.startsWith("#")) { // a skip link; as a new hash it would leave a product for the list
    document.querySelector(target).focus();
    return;
  }
  history.pushState(null, "", link.href);
  show();
});
addEventListener("popstate", show);
addEventListener("hashchange", show);

const site = await load("/api/site.json");
document.querySelector("#app").append(...hiddenParts(site), ...drawFrame(site));
await show();
setTimeout(() => consentBox(site), 200);
