// Evaluated once per document in an isolated world, after ../browser/dom.js, while the scripts of the page are off; the
// other scripts of this folder add to it. Nothing here may be seen by the style sheets of the page: elements are changed by
// animations, never by attributes.
// isLocked(), release(): whether the page is locked, and releases it. isFreed(): whether its body was fixed, which holds it, too.
// silence(...roots): hides noscript, which browsers show while scripts are off; returns whether any is in a frame or in a closed
// shadow tree, where it may be in the capture.
// besides(...roots), isEmpty(lost, element): see below.
// isHidden(), count(), counted(): whether the window is, and how often a timer has run, to know whether scripts run.
// put(element, keyframe), scroll(element, left, top): change an element for the pictures.
// stays(count, ...elements), places(...elements): see below.
// shown(): the addresses of what the page has asked for to show it; pictures of scripts may be shown nowhere.
// unsized(...roots): the addresses of pictures and videos that may have another size when they come, or paint beyond it; "" of lazy ones that
// nobody has asked for.
// idleSheets(...roots): the addresses of style sheets of which no link applies, such as those for printing.
// isLive(late, element): "live" if a worker may draw a canvas, or a script feeds a video, "late" if what it shows is, else "".
// isLate(isClosed, element): whether a lazy picture, video or frame may not be there yet, if it is in a closed shadow tree,
// or in a frame of another origin; others are known before.
// scrollPage(left, top): scrolls the page; returns how far, and the size of the window.
// undo(element), restore(): undo what was put, and everything; restore returns whether anything was scrolled.
// The others share sheet(rules), strong(selector), adopt(sheets, trees), drop(sheets, trees), treesOf(roots),
// isPut(element), rectOf(element), stretched(width), above(node) and outer(node): that around it in the
// document, and on the page, where it may be in a slot, waysOf(element): how far it can be scrolled to the side and down,
// isWindow(element), scrolledTo(element), scrollOn(element, left, top) and scrollBack([element, [left, top]]).
globalThis.domsievePixels = (() => {
  const { part, run, own, isLaidOut, isBounded, showsNoscript, paintsBeyond, trees, isOwn, animated, NOBODY, HTML } = dom;

  const sheet = (rules) => {
    const made = new CSSStyleSheet();
    made.replaceSync(rules);
    return made;
  };
  // Ids outweigh almost all rules of pages.
  const strong = (selector) => `:is(${selector}, ${NOBODY.repeat(9)} *)`;
  const released = sheet(`${strong(":root")} { overflow-y: auto !important }
    ${strong(":root > body")} { overflow: visible !important }`);
  const unscripted = sheet(`${HTML} ${strong("html|noscript")} { display: none !important; transition: none !important }`);
  let silenced = [];

  const addressOf = (given) => (URL.canParse(given, document.baseURI) ? new URL(given, document.baseURI).href.split("#")[0] : null);
  const treesOf = (roots) => [document, ...roots].flatMap((root) => [...trees(root)]);
  const adopt = (sheets, all) => {
    for (const root of all) root.adoptedStyleSheets = [...root.adoptedStyleSheets, ...sheets];
  };
  const drop = (sheets, all) => {
    for (const root of all) {
      root.adoptedStyleSheets = [...root.adoptedStyleSheets].filter((one) => !sheets.includes(one));
    }
  };

  const STRETCHES = [
    [50, "ultra-condensed"], [62.5, "extra-condensed"], [75, "condensed"], [87.5, "semi-condensed"], [100, "normal"],
    [112.5, "semi-expanded"], [125, "expanded"], [150, "extra-expanded"], [200, "ultra-expanded"],
  ];
  // Of the fonts of a family, browsers take the next narrower one than a narrow width, or wider than a wide one.
  const stretched = (value) => {
    const width = parseFloat(value) || 100;
    const found = width > 100 ? STRETCHES.find(([one]) => one >= width) : STRETCHES.findLast(([one]) => one <= width);
    return found?.[1] ?? (width > 100 ? "ultra-expanded" : "ultra-condensed");
  };

  const changed = new Map();
  const scrolled = new Map();
  let counter = 0;
  let counted = 0;

  const put = (element, keyframe) => {
    if (!changed.has(element)) changed.set(element, animated(element, keyframe));
  };

  const undo = (element) => {
    changed.get(element)?.cancel();
    changed.delete(element);
  };

  const above = (node) => part(node, Node, "parentNode") ?? (node instanceof ShadowRoot ? node.host : null);
  const slotOf = (node) => [Element, Text].find((kind) => node instanceof kind);
  const outer = (node) => (slotOf(node) && part(node, slotOf(node), "assignedSlot")) || above(node);
  // What an element must not have, so that another one around it holds what is placed in it (`absolute`, or `fixed`, which
  // its position does not matter for), also in a line of text, and else.
  const FILTERS = { filter: "none", "backdrop-filter": "none" };
  const ANYWHERE = { position: "static", ...FILTERS };
  const IN_BLOCKS = { transform: "none", translate: "none", rotate: "none", scale: "none", perspective: "none",
    "offset-path": "none", "offset-position": "normal", "transform-style": "flat" };
  const holds = (element, style, position) => {
    if (element instanceof SVGElement) return true;
    // An animation holds whatever its value is.
    const animating = run(element, Element, "getAnimations").filter(({ playState }) => playState !== "finished")
      .flatMap(({ effect }) => effect?.getKeyframes().flatMap(Object.keys) ?? [])
      .map((name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
    const coming = [...style.willChange.toLowerCase().replaceAll("-webkit-", "").split(", "), ...animating];
    const isComing = (name) => coming.includes(name) || (name.startsWith("offset") && coming.includes("offset"));
    const has = (looks) => Object.keys(looks).some((name) => style[name] !== looks[name] || isComing(name));
    if (style.display === "contents") return false;
    const anywhere = position === "fixed" ? FILTERS : ANYWHERE;
    return has(anywhere) || (style.display !== "inline" && (has(IN_BLOCKS) || coming.includes("contain")
      || /layout|paint|content|strict/.test(style.contain) || style.contentVisibility !== "visible"));
  };

  const sizesOf = (element, kind) => ["Width", "Height"].map((size) => part(element, Element, `${kind}${size}`));
  const waysOf = (element) => {
    const shown = sizesOf(element, "client");
    return sizesOf(element, "scroll").map((size, axis) => size - shown[axis]);
  };
  const rectOf = (element) => run(element, Element, "getBoundingClientRect");

  // A root scrolls its window. Without a doctype (quirks mode), only the body knows how far, and if that scrolls by itself,
  // no element does.
  const isWindow = (element) => element === own("documentElement");
  const scrolledTo = (element) => (isWindow(element) ? [scrollX, scrollY]
    : [part(element, Element, "scrollLeft"), part(element, Element, "scrollTop")]);
  // As readers do: by how far, not to where, which some style sheets can tell apart.
  const scrollOn = (element, left, top) => {
    const [x, y] = scrolledTo(element);
    const way = { left: left - x, top: top - y, behavior: "instant" };
    if (isWindow(element)) scrollBy(way);
    else run(element, Element, "scrollBy", way);
  };
  const scrollBack = ([element, [left, top]]) => {
    const place = { left, top, behavior: "instant" };
    if (isWindow(element)) scrollTo(place);
    else run(element, Element, "scrollTo", place);
  };

  const NEAR_WINDOW = 1.25; // where a body ends that is locked to the window, in heights of that: it may have margins
  return {
    sheet,
    strong,
    adopt,
    drop,
    treesOf,
    above, outer, holds,
    rectOf,
    waysOf,
    isWindow,
    scrolledTo,
    scrollOn,
    scrollBack,
    stretched,
    isPut: (element) => changed.has(element),

    put,

    undo,

    // A lock keeps readers from scrolling down. The picture shows what it cuts, unless both root and body have one.
    // What is cut at the sides stays cut, and so does what a body cuts that ends far below the window.
    isLocked() {
      const [root, body] = [own("documentElement"), own("body")];
      const locks = (element) => element && /hidden|clip/.test(getComputedStyle(element).overflowY);
      const overflows = (element) => part(element, Element, "scrollHeight") > part(element, Element, "clientHeight") + 1;
      const endsHere = (element) => rectOf(element).bottom <= NEAR_WINDOW * innerHeight;
      const isRootOpen = !root || getComputedStyle(root).overflow === "visible";
      return Boolean(!isRootOpen && locks(body) && overflows(body) && endsHere(body));
    },

    release() {
      adopt([released], [document]);
      const [root, body] = [own("documentElement"), own("body")];
      // A box with an overflow keeps the margins of its content inside; with a padding it still does.
      const padding = { paddingTop: `max(${getComputedStyle(body).paddingTop}, 0.02px)` };
      put(root, { overflowY: "auto" });
      put(body, { overflow: "visible", ...padding });
    },

    isFreed() {
      const body = own("body");
      const isPlaced = (one) => isOwn(one) && one.effect.getKeyframes().some(({ position }) => position === "absolute");
      return Boolean(body) && run(body, Element, "getAnimations").some(isPlaced);
    },

    silence(...roots) {
      silenced = treesOf(roots).filter((root) => root.querySelector("noscript") && !showsNoscript(root));
      adopt([unscripted], silenced);
      const open = parent === window ? [...trees(document)] : [];
      return silenced.some((root) => !open.includes(root));
    },

    // What is said of style sheets elsewhere than in their texts and in attributes: their media, which scripts may have
    // changed, and instructions in XML, which captures do not have.
    besides(...roots) {
      const isInstruction = (one) => part(one, Node, "nodeType") === Node.PROCESSING_INSTRUCTION_NODE;
      const said = [...document.childNodes].filter(isInstruction).map((one) => part(one, CharacterData, "data"));
      const sheets = treesOf(roots).flatMap((root) => ["styleSheets", "adoptedStyleSheets"].flatMap((name) =>
        [...part(root, root instanceof ShadowRoot ? ShadowRoot : Document, name)]));
      return [...said, ...sheets.map(({ media }) => media.mediaText)].join("\n");
    },

    // Whether the sheet of an element has no rules: one that can be read, or of which nothing has come.
    isEmpty(lost, element) {
      const { sheet } = element;
      if (lost.includes(element.href)) return true;
      try {
        return !sheet?.cssRules.length;
      } catch {
        return false; // from another origin
      }
    },

    isHidden() {
      return document.visibilityState === "hidden";
    },

    // A timer runs only if scripts are on and the page is not frozen.
    count() {
      counter = setInterval(() => counted++, 1);
    },

    counted() {
      clearInterval(counter);
      return counted;
    },

    // Whether the page has handed a canvas over, normally to a worker: that has no context any more. A context that is
    // made here would change what is painted.
    isLive(late, element) {
      if (element instanceof HTMLVideoElement) {
        const isLate = !element.readyState && late.includes(addressOf(element.currentSrc));
        return part(element, HTMLMediaElement, "srcObject") !== null ? "live" : isLate ? "late" : "";
      }
      try {
        run(element, HTMLCanvasElement, "getContext", "none");
        return "";
      } catch {
        return "live";
      }
    },

    isLate(isClosed, element) {
      const isApart = (view) => view.parent !== view && (!view.frameElement || isApart(view.parent));
      if (!isClosed && !isApart(window)) return false;
      const [name, inner] = [part(element, Element, "localName"), element.contentDocument];
      if (name === "img") return !element.naturalWidth;
      // Nothing tells of others whether they are there.
      if (name === "video" || !inner) return name === "video" || element.hasAttribute("sandbox");
      return Boolean(element.getAttribute("src")) && inner.URL === "about:blank";
    },

    // Where fixed elements are in the window, whether they are held in the page, as boxes with a transform or the like hold
    // what is fixed in them, and whether they are on top of all else. After `count` elements come closed shadow roots.
    stays(count, ...all) {
      const elements = all.slice(0, count), hosts = treesOf(all.slice(count)).map(({ host }) => host);
      // For drawings and formulas, browsers do not tell what holds them; what is in a shadow tree, as of these elements, may be
      // in any box of it.
      const HAS_TREE = "details, marquee, object, optgroup, select, summary";
      const isHeldAbove = (element) => {
        let node = outer(element);
        while (node && !(node instanceof Element && (hosts.includes(node) || run(node, Element, "matches", HAS_TREE)
          || holds(node, getComputedStyle(node), "fixed")))) node = outer(node);
        return Boolean(node);
      };
      return elements.map((element) => {
        const isInPage = getComputedStyle(element).position !== "fixed" // it was so in the capture
          || (element instanceof HTMLElement ? part(element, HTMLElement, "offsetParent") !== null : isHeldAbove(element));
        const { left, top } = rectOf(element);
        return [`${left} ${top}`, isInPage, run(element, Element, "matches", ":modal, :popover-open, :fullscreen")];
      });
    },

    shown() {
      const isShown = ({ initiatorType }) => initiatorType !== "img"; // nor do these say whether they are elements
      return performance.getEntriesByType("resource").filter(isShown).map(({ name }) => name.split("#")[0]);
    },

    unsized(...roots) {
      const asked = "img, input[type=image i], video, embed, object, image";
      const isFree = (one) => {
        const style = run(one, Element, "computedStyleMap");
        // Boxes around a picture may have its size, which percentages are of, unless it is placed apart from them.
        const units = /absolute|fixed/.test(style.get("position")) ? ["px", "percent"] : ["px"];
        const fixed = ["width", "height"].filter((name) => units.includes(style.get(name)?.unit));
        return fixed.length + /\d/.test(style.get("aspect-ratio")) < 2 || !isBounded(style) || paintsBeyond(one);
      };
      const addresses = (one) => {
        if (one.loading === "lazy" && one.complete === false) return [""];
        const given = [!one.readyState && (one.currentSrc || one.src), one.poster, one.data, one.href?.baseVal];
        return given.filter((value) => value && typeof value === "string").map(addressOf).filter((one) => one?.startsWith("http"));
      };
      const isLate = (one) => isLaidOut(one) && !one.naturalWidth && isFree(one);
      return treesOf(roots).flatMap((root) => [...root.querySelectorAll(asked)]).filter(isLate).flatMap(addresses);
    },

    idleSheets(...roots) {
      const isChosen = own("querySelector").call(document, "meta[http-equiv=default-style i]") !== null;
      const applies = (one) => matchMedia(one.media).matches && (isChosen || !one.relList.contains("alternate"));
      const links = treesOf(roots).flatMap((root) => [...root.querySelectorAll("link[rel~=stylesheet i]")]);
      const addresses = (some) => new Set(some.map(({ href }) => href.split("#")[0]));
      const applied = addresses(links.filter(applies));
      return [...addresses(links)].filter((one) => !applied.has(one));
    },

    // How far the document is scrolled, and where the upper left corners of elements are in it.
    places(...elements) {
      const corners = elements.map(rectOf).map(({ left, top }) => [left + scrollX, top + scrollY]);
      return [[scrollX, scrollY], ...corners];
    },

    // Along which axes sticky elements stay where they are while something is scrolled.
    sticks(...elements) {
      return elements.map((element) => {
        const style = run(element, Element, "computedStyleMap");
        return [["left", "right"], ["top", "bottom"]].map((sides) => sides.some((side) => style.get(side)?.value !== "auto"));
      });
    },

    scroll(element, left, top) {
      if (!scrolled.has(element)) scrolled.set(element, scrolledTo(element));
      scrollOn(element, left, top);
      return scrolledTo(element);
    },

    scrollPage(left, top) {
      const [root, port] = [own("documentElement"), own("scrollingElement")];
      const size = port ? [part(port, Element, "clientWidth"), part(port, Element, "clientHeight")] : [innerWidth, innerHeight];
      const place = scrolledTo(root);
      const to = this.openAxes().map((isOpen, axis) => (isOpen ? [left, top] : place)[axis]); // as readers can
      return [...this.scroll(root, ...to), ...size];
    },

    restore() {
      [...scrolled].forEach(scrollBack);
      for (const element of [...changed.keys()]) undo(element);
      this.resume();
      drop([released], [document]);
      drop([unscripted], silenced);
      return scrolled.size > 0;
    },
  };
})();
