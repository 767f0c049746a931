// The views of the magazine: home, the list of articles, one article, the day book of sightings.
import { h, inline, load, table } from "./dom.js";
import { shareButtons, teasers } from "./frame.js";

function block(entry) {
  const [[kind, value]] = Object.entries(entry);
  if (kind === "p") return h("p", {}, inline(value));
  if (kind === "h2") return h("h2", {}, value);
  if (kind === "table") return table(value.rows, { head: value.head });
  return h(kind, {}, value.map((item) => h("li", {}, inline(item)))); // ul and ol
}

function figure(slug, { alt, caption }) {
  return h("figure", {},
    h("img", { src: `/pictures/${slug}.svg`, alt, width: 800, height: 400 }),
    h("figcaption", {}, caption));
}

const byline = ({ author, date }) => h("p", { class: "byline" }, `By ${author}, ${date}`);

function storyBlocks(body, draw) {
  const blocks = body.map(draw);
  blocks[0].classList.add("lead");
  return blocks.toSpliced(4, 0, h("div", { class: "advert-slot" }));
}

// Title and text are slotted, the rest of the head lives in an open shadow root, the table in a closed one.
function storyInShadow(entry, { figure: picture, body }) {
  const style = () => h("link", { rel: "stylesheet", href: "/assets/prose.css" });
  const host = h("field-story", { class: "prose" });
  host.attachShadow({ mode: "open" }).append(style(),
    h("article", { class: "prose" },
      h("slot", { name: "title" }),
      h("p", { class: "standfirst" }, entry.summary),
      byline(entry),
      figure(entry.slug, picture),
      h("slot", {})));
  const blocks = storyBlocks(body, (part) => {
    if (!part.table) return block(part);
    const closed = h("survey-table");
    closed.attachShadow({ mode: "closed" }).append(style(), h("div", { class: "prose" }, block(part)));
    return closed;
  });
  host.append(h("h1", { slot: "title" }, entry.title), ...blocks);
  return host;
}

function story(entry, { figure: picture, body }) {
  return h("article", { class: "prose" },
    h("h1", {}, entry.title),
    h("p", { class: "standfirst" }, entry.summary),
    byline(entry),
    figure(entry.slug, picture),
    storyBlocks(body, block));
}


function comments(slug) {
  return h("iframe", { class: "comments", title: "Letters from readers", src: `/comments.html?article=${slug}` });
}

export async function article(slug) {
  const [{ articles }, full] = await Promise.all([load("/api/articles.json"), load(`/api/articles/${slug}.json`)]);
  const at = articles.findIndex((entry) => entry.slug === slug);
  const entry = articles[at];
  const next = [1, 2, 3].map((step) => articles[(at + step) % articles.length]);
  const draw = full.layout === "shadow" ? storyInShadow : story;
  return {
    title: entry.title,
    trail: [["Articles", "/articles"]],
    content: h("div", {},
      draw(entry, full),
      shareButtons(entry.title),
      full.comments ? comments(slug) : null,
      teasers("Read next", next.map((other) => ({ href: `/articles/${other.slug}`, name: other.title, summary: other.summary })))),
  };
}

function articleCards(articles) {
  return h("ul", { class: "entries" }, articles.map((entry) =>
    h("li", {},
      h("img", { src: `/pictures/${entry.slug}.svg`, alt: "", width: 800, height: 400, loading: "lazy" }),
      h("div", {},
        h("h2", {}, h("a", { href: `/articles/${entry.slug}` }, entry.title)),
        h("p", {}, entry.summary),
        byline(entry)))));
}

export async function articleList() {
  const { title, intro, articles } = await load("/api/articles.json");
  const asked = new URLSearchParams(location.search);
  const words = (asked.get("q") ?? "").toLowerCase();
  const found = articles.filter((entry) =>
    (!asked.has("tag") || entry.tags.includes(asked.get("tag"))) &&
    `${entry.title} ${entry.summary}`.toLowerCase().includes(words));
  return {
    title,
    trail: [],
    content: h("div", {},
      h("h1", {}, title), h("p", { class: "intro" }, intro),
      h("div", { class: "advert-slot" }),
      articleCards(found)),
  };
}

export async function home() {
  const [{ title, letter, signed, latest }, { articles }] = await Promise.all([load("/api/home.json"), load("/api/articles.json")]);
  return {
    title,
    trail: [],
    content: h("div", {},
      h("section", { class: "prose letter" },
        h("h1", {}, title), letter.map((part) => h("p", {}, part)), h("p", { class: "byline" }, signed)),
      h("div", { class: "advert-slot" }),
      h("h2", { class: "section-title" }, latest),
      articleCards(articles.slice(0, 4))),
  };
}

function record({ name, place, date, note }) {
  return h("li", {}, h("h2", {}, name), h("p", { class: "byline" }, `${place}, ${date}`), h("p", {}, note));
}

// The second half of the day book is asked for when the end of the first comes into view.
export async function sightings() {
  const first = await load("/api/sightings-1.json");
  const list = h("ol", { class: "records" }, first.records.map(record));
  const end = h("p", { class: "more" }, "Turning the page …");
  new IntersectionObserver(async ([{ isIntersecting }], observer) => {
    if (!isIntersecting) return;
    observer.disconnect();
    const { records } = await load(first.next);
    list.append(...records.map(record));
    end.remove();
  }).observe(end);
  return {
    title: first.title,
    trail: [],
    content: h("div", {},
      h("h1", {}, first.title), h("p", { class: "intro" }, first.intro),
      h("div", { class: "advert-slot" }),
      list, end),
  };
}
