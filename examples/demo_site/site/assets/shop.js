// The workshop: a list of instruments, and one page for each behind the "#" of the same address.
import { h, load, table } from "./dom.js";
import { shareButtons, teasers, toast } from "./frame.js";

const address = (id) => `/shop#/product/${id}`;

function picture(id, loading) {
  return h("img", { src: `/pictures/product-${id}.svg`, alt: "", width: 320, height: 240, loading });
}

function basketButton(name) {
  const button = h("button", { type: "button", class: "primary" }, "Put in the basket");
  button.addEventListener("click", () => toast(`${name} is in your basket`));
  return button;
}

function card({ id, name, price, stock, summary, page }) {
  return h("li", {},
    picture(id, "lazy"),
    h("h2", {}, page ? h("a", { href: address(id) }, name) : name),
    h("p", {}, summary),
    h("p", { class: "price" }, price),
    h("p", { class: "stock" }, stock),
    basketButton(name));
}

export async function shop() {
  const { title, intro, products } = await load("/api/products.json");
  return {
    title,
    trail: [],
    content: h("div", {},
      h("h1", {}, title), h("p", { class: "intro" }, intro),
      h("div", { class: "advert-slot" }),
      h("ul", { class: "cards" }, products.map(card))),
  };
}

function review({ name, rating, text }) {
  return h("li", {},
    h("p", { class: "stars", role: "img", "aria-label": `${rating} of 5` }, "★".repeat(rating) + "☆".repeat(5 - rating)),
    h("p", {}, text),
    h("p", { class: "byline" }, name));
}

export async function product(id) {
  const [{ products }, full] = await Promise.all([load("/api/products.json"), load(`/api/products/${id}.json`)]);
  const described = products.filter(({ page }) => page);
  const at = described.findIndex((entry) => entry.id === id);
  const { name, price, stock, summary } = described[at];
  const next = [1, 2, 3].map((step) => described[(at + step) % described.length]);
  return {
    title: name,
    trail: [["Workshop", "/shop"]],
    content: h("div", {},
      h("article", { class: "prose product" },
        h("div", { class: "product-head" },
          picture(id),
          h("div", {},
            h("h1", {}, name),
            h("p", { class: "standfirst" }, summary),
            h("p", { class: "price" }, price),
            h("p", { class: "stock" }, stock),
            basketButton(name))),
        full.description.map((part) => h("p", {}, part)),
        h("div", { class: "advert-slot" }),
        h("h2", {}, "Specification"),
        table(full.specification, { sideways: true }),
        h("h2", {}, "Reviews"),
        h("ul", { class: "reviews" }, full.reviews.map(review))),
      h("details", { class: "delivery" },
        h("summary", {}, "Delivery and returns"),
        h("p", {}, "Parcels leave on Thursdays with the carrier. Anything that does not suit may come back within a month, washed.")),
      shareButtons(name),
      teasers("More from the workshop", next.map((other) => ({ href: address(other.id), name: other.name, summary: other.summary })))),
  };
}
