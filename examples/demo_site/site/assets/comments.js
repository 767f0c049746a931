// The letters under an article, drawn inside a frame of their own.
import { h, load } from "./dom.js";

const slug = new URLSearchParams(location.search).get("article");
const { title, comments, form } = await load(`/api/comments-${slug}.json`);
document.querySelector("#comments").append(
  h("section", {},
    h("h2", {}, title),
    h("ol", {}, comments.map(({ name, text }) => h("li", {}, h("p", {}, text), h("p", { class: "byline" }, name)))),
    h("p", { class: "hint" }, form)));

new ResizeObserver(() => {
  if (frameElement) frameElement.style.height = `${document.documentElement.offsetHeight}px`;
}).observe(document.documentElement);
