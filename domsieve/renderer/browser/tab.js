// Evaluated once per document in an isolated world, where nothing the page has patched can reach it.
// quiet(): resolves with true once the structure has been still for `stillMs`, with false after `limitMs`.
// scrollThrough(): scrolls to the end in steps that let lazy content come, and back to the top.
// reached(selector): how many elements are in the documents and shadow trees that are open to this script.
// visit(places): has rests() scroll to places, too, [[left, top, right, bottom], ...] in px of the window as it is now.
// rests(): whether animations have ended that end soon, and lazy pictures have come that meet text; it gives up when
// none has come for `lazyMs`.
// notePictures(), lostPictures(): where the pictures and frames are [[left, top, right, bottom], ...] that had not come
// when they were noted, or have gone since because loading was stopped; in px of the page.
// shows(), aim(): find the first element that is shown by a selector; null says that it is no selector.
// hideNoscript(): keeps noscript hidden while scripts are off, or ends that.
// trim(): makes the document ready for its capture, and ends the animations that end within `endMs`, or, if they wait for
// a reader to scroll to something, take no longer than `lateEndMs`; returns how many nodes it had. resume(): lets those go
// on that follow what is scrolled.
// moments(), goTo(number): find moments at which animations bring texts in view that are not now, and bring the page there,
// with -1 back; returns left, top, width and height of these texts, in px of the page. See below.
globalThis.domsieve = (() => {
  // A form named "scripts" would stand in for document.scripts, in every world.
  const own = (name) => Reflect.get(Document.prototype, name, document);

  let lastChange = performance.now();
  const changed = () => { lastChange = performance.now(); };
  const isText = (nodes) => nodes.length === 1 && nodes[0].nodeType === Node.TEXT_NODE;
  // Clocks and counters put one text in the place of another for ever.
  const isStructural = (record) => !(isText(record.addedNodes) && isText(record.removedNodes));
  new MutationObserver((records) => records.some(isStructural) && changed())
    .observe(document, { childList: true, subtree: true });
  own("addEventListener").call(document, "domsieve-shadow-change", changed);
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  // What the page says of itself as JSON-LD; see snapshot/json_ld.py.
  const isData = (script) => script.type.slice(0, 100).split(";")[0].trim().toLowerCase() === "application/ld+json"
    && script.textContent.length <= 1_000_000;
  // Fields of a form stand in for its properties, so these are read from the prototype.
  const part = (element, name) => Reflect.get(Element.prototype, name, element);
  // Objects of frames are instances of other classes.
  const kind = (node) => Reflect.get(Node.prototype, "nodeType", node);
  const isTextNode = (node) => [Node.TEXT_NODE, Node.CDATA_SECTION_NODE].includes(kind(node));
  // Any other question would lay out an element that is in a closed <details>, and then it seems to be seen.
  const isLaidOut = (element) => part(element, "checkVisibility").call(element);
  const isShown = (element) => isLaidOut(element) && element.getClientRects().length > 0
    && getComputedStyle(element).visibility === "visible";
  // The document and all open shadow trees in it, in document order.
  const trees = function* (root) {
    yield root;
    for (const element of root.querySelectorAll("*")) {
      const inner = part(element, "shadowRoot");
      if (inner) yield* trees(inner);
    }
  };
  const first = (selector) => {
    for (const tree of trees(own("documentElement"))) {
      for (const element of tree.querySelectorAll(selector)) if (isShown(element)) return element;
    }
  };
  // The nodes inside of an element in the flat tree that may be laid out.
  const inside = (element) => {
    const name = part(element, "localName");
    if (name === "details" && element.open === false) return [...element.children].slice(0, 1);
    const slotted = name === "slot" ? element.assignedNodes?.() ?? [] : [];
    return slotted.length ? slotted : part(part(element, "shadowRoot") ?? element, "childNodes");
  };
  // The elements that may be laid out, each with its style, and the texts in them. Styles of elements in hidden ones are
  // not asked for, because Chrome then lays these out.
  const laidOut = function* (root) {
    const waiting = root ? [root] : [];
    while (waiting.length) {
      const node = waiting.pop();
      if (isTextNode(node)) yield [node];
      if (kind(node) !== Node.ELEMENT_NODE) continue;
      const style = getComputedStyle(node);
      if (style.display === "none" || style.contentVisibility === "hidden") continue;
      yield [node, style];
      for (const one of inside(node)) waiting.push(one);
    }
  };
  const keep = (element, look) => {
    part(element, "animate").call(element, [look, look], { duration: 1, fill: "both" }).finish();
  };
  // Scrolls a box to where it begins, also if it snaps to somewhere else.
  const begin = (element) => {
    const [across, down] = canScroll(element);
    const isThere = () => !(across && part(element, "scrollLeft")) && !(down && part(element, "scrollTop"));
    const go = () => part(element, "scrollTo").call(element,
      { ...(across ? { left: 0 } : {}), ...(down ? { top: 0 } : {}), behavior: "instant" });
    go();
    if (isThere()) return;
    keep(element, { scrollSnapType: "none" });
    go();
  };
  // Whether a reader can scroll a box to the side, and down.
  const canScroll = (element) => {
    const { overflowX, overflowY, pointerEvents, interactivity } = getComputedStyle(element);
    if (element === document.scrollingElement) return [true, true];
    if (pointerEvents === "none" || interactivity === "inert" || element.closest("[inert]")) return [false, false];
    const { scrollingElement, body, defaultView } = element.ownerDocument;
    if (element !== scrollingElement) return [overflowX, overflowY].map((value) => /auto|scroll/.test(value));
    const frame = defaultView?.frameElement;
    const isOpen = [element, body].every((one) => !one || !/hidden|clip/.test(getComputedStyle(one).overflow));
    return Array(2).fill(isOpen && !/^(no|off|noscroll)$/i.test(frame?.getAttribute("scrolling") ?? ""));
  };
  // Scripts lock a page behind a dialog by a fixed body, which shows only a part of the page then, and others let only a
  // fixed body scroll.
  const release = () => {
    const { body } = document;
    if (!body || getComputedStyle(body).position !== "fixed") return;
    const { top, bottom, width, height } = body.getBoundingClientRect();
    const isLocked = height > innerHeight + 1 && top <= 0 && bottom > 0;
    const scrolls = part(body, "scrollHeight") > part(body, "clientHeight") + 1 && canScroll(body)[1];
    const size = { width: `${width}px`, height: `${height}px` };
    if (isLocked || scrolls) keep(body, { position: "relative", top: "0px", ...(scrolls ? size : {}) });
  };
  // A capture has no styles of ::first-line. Where the first line is the only one, the element gets its colour.
  const showFirstLine = (element, style) => {
    if (/^(inline|contents|none)$/.test(style.display) || element.childElementCount) return; // others inherit the colour
    const first = getComputedStyle(element, "::first-line");
    const color = first.backgroundColor === first.color ? "transparent" : first.color;
    const fill = first.webkitTextFillColor;
    if (color === style.color && fill === style.webkitTextFillColor) return;
    const range = new Range();
    range.selectNodeContents(element);
    const lines = [...range.getClientRects()].filter((rect) => rect.width && rect.height);
    if (!lines.length) return;
    const top = Math.min(...lines.map((rect) => rect.top)), bottom = Math.max(...lines.map((rect) => rect.bottom));
    if (bottom - top < 1.5 * Math.max(...lines.map((rect) => rect.height))) {
      keep(element, { color, webkitTextFillColor: fill === first.color ? color : fill });
    }
  };
  // Chapters below the fold may be skipped until they are scrolled to. An animation shows them and changes no attribute.
  const showSkipped = () => {
    for (const [element, style] of laidOut(own("documentElement"))) {
      if (!style) continue;
      if (style.contentVisibility === "auto") {
        // What they contain stays contained: https://www.w3.org/TR/css-contain-2/#content-visibility
        const { translate, overflow, display } = style;
        keep(element, {
          contentVisibility: "visible",
          ...(translate === "none" ? { translate: "0px" } : {}),
          ...(overflow === "visible" ? { overflow: "clip" } : {}),
          ...(display === "block" ? { display: "flow-root" } : {}),
        });
      }
      showFirstLine(element, style);
    }
  };
  // Whether an animation ends in so many milliseconds, as readers find it from then on.
  const endsWithin = (animation, ms) => {
    const timing = animation.effect?.getComputedTiming();
    const isRunning = animation.timeline instanceof DocumentTimeline && animation.playState === "running";
    const [time, rate] = [animation.currentTime, animation.playbackRate];
    return isRunning && timing && rate > 0 && time < timing.endTime && timing.endTime - time <= ms * rate;
  };
  let pictures; // none are known if they could not be noted
  // The documents of the same origin, each with the place of its window.
  const places = function* (inner, x, y) {
    yield [inner, x, y];
    for (const one of inner.querySelectorAll("iframe, frame")) {
      const box = one.getBoundingClientRect();
      const [left, top] = [x + box.left + one.clientLeft, y + box.top + one.clientTop];
      if (one.contentDocument) yield* places(one.contentDocument, left, top);
    }
  };
  // Lazy pictures, videos and frames that are not there yet, where text is: they come when a reader scrolls to it.
  let awaited, late, coming, reach, count, arrivedAt, elsewhere = [];
  const passed = new WeakSet(), moved = new Map();
  const viewOf = (element) => Reflect.get(Document.prototype, "defaultView", part(element, "ownerDocument"));
  const hasAnswer = (one, address) => /^(data|blob):/.test(address) || viewOf(one).performance
    .getEntriesByType("resource").some(({ name }) => name.split("#")[0] === address.split("#")[0]);
  const isAwaited = (one) => {
    if (one.loading !== "lazy") return false;
    const name = part(one, "localName");
    if (name === "img") return !one.complete;
    // Neither posters nor sandboxed frames tell whether they are there.
    const isDue = (address) => Boolean(address) && !(passed.has(one) && hasAnswer(one, address));
    if (name === "video") {
      const { networkState, readyState, NETWORK_LOADING, HAVE_CURRENT_DATA } = one;
      return !passed.has(one) || isDue(one.poster) || (networkState === NETWORK_LOADING && readyState < HAVE_CURRENT_DATA);
    }
    if (!one.getAttribute("src") || one.src === "about:blank") return false;
    // A frame that waits has an empty document.
    return one.contentDocument ? one.contentDocument.URL === "about:blank" : one.hasAttribute("sandbox") && isDue(one.src);
  };
  const allTrees = () => [...places(document, 0, 0)].flatMap(([inner]) => [...trees(inner)]);
  // The attributes that scripts take the addresses of pictures from, when these come near the window.
  const SOURCES = ["data-src", "data-srcset", "data-lazy-src", "data-lazy-srcset", "data-original"];
  const BACKGROUNDS = ["data-bg", "data-bgset", "data-background", "data-background-image"];
  const scripted = new WeakSet();
  const waitsForPicture = (one) => SOURCES.some((name) => one.hasAttribute(name))
    && (/^(data:|$)/.test(one.currentSrc) || (one.complete && one.naturalWidth < 3));
  const waitsForBackground = (one) => BACKGROUNDS.some((name) => one.hasAttribute(name))
    && getComputedStyle(one).backgroundImage === "none";
  const waitsForScript = (one) => matchMedia("(scripting)").matches
    && (part(one, "localName") === "img" ? waitsForPicture(one) : waitsForBackground(one));
  const isComing = (one) => isAwaited(one) || waitsForScript(one) || (scripted.has(one) && one.complete === false);
  const allAwaited = () => {
    const asked = ["img[loading]", "video[loading]", "iframe[loading]", ...SOURCES.map((name) => `img[${name}]`),
      ...BACKGROUNDS.map((name) => `[${name}]`)].join();
    const found = allTrees().flatMap((tree) => [...tree.querySelectorAll(asked)]).filter((one) => isLaidOut(one) && isComing(one));
    for (const one of found) if (waitsForScript(one)) scripted.add(one);
    return found;
  };
  // Where an element is in the window, also if it is in a frame.
  const boxOf = (element) => {
    const box = element.getBoundingClientRect();
    const frame = viewOf(element)?.frameElement;
    if (frame) {
      const outer = boxOf(frame);
      box.x += outer.x + frame.clientLeft;
      box.y += outer.y + frame.clientTop;
    }
    return box;
  };
  // Whether a picture has another size when it is there.
  const isUnsized = (one) => {
    if (part(one, "localName") === "iframe") return false;
    const [box, style] = [one.getBoundingClientRect(), part(one, "computedStyleMap").call(one)];
    const isByWord = (name) => typeof style.get(name)?.value === "string"; // such as auto
    const hasRatio = /\d/.test(style.get("aspect-ratio"));
    return !box.width || !box.height || (!hasRatio && (isByWord("width") || isByWord("height")));
  };
  // Whether an element paints beyond its box, or one around it does; `known` has what was asked before.
  const paintsElsewhere = (element, known) => {
    const path = [];
    for (let one = element; one && !known.has(one); one = above(one)) path.push(one);
    for (const one of path.reverse()) {
      const { filter, overflow, webkitBoxReflect } = getComputedStyle(one);
      known.set(one, known.get(above(one)) || /drop-shadow|url/.test(filter) || webkitBoxReflect !== "none"
        || (part(one, "localName") === "img" && overflow === "visible"));
    }
    return known.get(element);
  };
  const lateUnderText = () => {
    const found = awaited.filter((one) => isComing(one) && isLaidOut(one));
    if (!found.length) return [];
    const rects = [];
    for (const [inner, x, y] of places(document, 0, 0)) {
      for (const [text, style] of laidOut(Reflect.get(Document.prototype, "documentElement", inner))) {
        if (style || !text.data.trim()) continue;
        const range = new Range();
        range.selectNode(text);
        for (const rect of range.getClientRects()) rects.push(new DOMRect(x + rect.x, y + rect.y, rect.width, rect.height));
      }
    }
    const meetsText = (one) => {
      const box = boxOf(one);
      return rects.some((rect) => rect.left < box.right - 1 && rect.right > box.left + 1
        && rect.top < box.bottom - 1 && rect.bottom > box.top + 1);
    };
    const known = new Map();
    return found.filter((one) => (isUnsized(one) && !scripted.has(one)) || meetsText(one) || paintsElsewhere(one, known));
  };
  const isNear = ({ left, right, top, bottom }, reach) =>
    left < innerWidth + reach && right > -reach && top < innerHeight + reach && bottom > -reach;
  const passNear = () => {
    const near = coming.filter((one) => isNear(boxOf(one), scripted.has(one) ? 0 : reach));
    for (const one of near) passed.add(one);
    coming = coming.filter((one) => !passed.has(one));
  };
  const above = (element) => {
    const root = part(element, "getRootNode").call(element);
    const host = kind(root) === Node.DOCUMENT_FRAGMENT_NODE ? root.host : viewOf(element)?.frameElement;
    return part(element, "assignedSlot") ?? part(element, "parentElement") ?? host;
  };
  const scrollToIt = (element) => {
    for (let box = above(element); box; box = above(box)) {
      if (!moved.has(box)) moved.set(box, [part(box, "scrollLeft"), part(box, "scrollTop")]);
    }
    element.scrollIntoView({ block: "start", inline: "center", behavior: "instant" });
  };
  const scrollBack = () => {
    for (const [box, [left, top]] of moved) {
      if (part(box, "scrollLeft") !== left || part(box, "scrollTop") !== top) {
        part(box, "scrollTo").call(box, { left, top, behavior: "instant" });
      }
    }
    moved.clear();
  };
  const awaitLate = (now) => {
    late = lateUnderText();
    coming = late;
    // What is no farther than this from the window comes with what is in it; Chrome goes farther.
    [reach, count, arrivedAt] = [innerHeight, late.length, now];
    passNear();
  };
  // Scrolls to the next ones. Returns whether there may be more to come, but not for longer than `limitMs` without any.
  const brings = (limitMs) => {
    const now = performance.now();
    if (!awaited) {
      awaited = allAwaited();
      awaitLate(now);
    }
    const waiting = late.filter(isComing);
    if (waiting.length < count) [count, arrivedAt] = [waiting.length, now];
    // Where pictures have come that were larger than their boxes, others may meet text.
    if (late.length && !count) awaitLate(now);
    if (now - arrivedAt >= limitMs) coming = [];
    const next = coming.find(isComing);
    if (next) {
      scrollToIt(next);
      passed.add(next);
      passNear();
      return true;
    }
    const place = elsewhere.find((one) => !isNear(one(), 0));
    if (place) {
      const [root, { x, y }] = [own("scrollingElement") ?? own("documentElement"), place()];
      if (!moved.has(root)) moved.set(root, [part(root, "scrollLeft"), part(root, "scrollTop")]);
      scrollBy({ left: x, top: y, behavior: "instant" });
      elsewhere = elsewhere.filter((one) => one !== place && !isNear(one(), 0));
      return true;
    }
    scrollBack();
    if (reach && count && now - arrivedAt >= limitMs / 2) {
      [reach, coming] = [0, waiting];
      for (const one of waiting) passed.delete(one);
    }
    return now - arrivedAt < limitMs && (count > 0 || own("readyState") !== "complete");
  };
  // Each tree has its own. Objects of frames are instances of other classes.
  const animationsOf = (tree) =>
    (tree.nodeType === Node.DOCUMENT_NODE ? Document : ShadowRoot).prototype.getAnimations.call(tree);
  // What waits until a reader scrolls to something; see https://drafts.csswg.org/css-animations-2/#animation-trigger.
  const waits = ({ effect, playState }) => {
    const { target, pseudoElement } = effect ?? {};
    const style = target && getComputedStyle(target, pseudoElement);
    return playState === "paused" && /^--/.test(style?.animationTrigger) && !style.animationPlayState.includes("paused");
  };
  const followsItsElement = ({ timeline, playState }) => playState === "running" && timeline && "subject" in timeline;
  // What fades in when a reader scrolls to it is captured as it is in the middle of the window.
  let halfway = [];

  // Moments of animations that follow what is scrolled or go on for ever, of which a reader sees many. So many are tried, at
  // times that no page can know, of which a text must be in view in so many; the best are kept. Guesses, as is how long a
  // reader waits.
  const TRIED = 40, LEAST_SEEN = 2, MOST_MOMENTS = 12, SHORTEST_MS = 100, LONGEST_MS = 120_000;
  // Bounds of the work: texts of a group of animations, looks at any text, and elements in all captures together.
  const MOST_MOVED = 1000, MOST_LOOKS = 100_000, MOST_CAPTURED = 100_000;
  // A text is in view if so much of it is, and its opacity is no lower. It shows well at a moment if it shows almost as much
  // as at any, and has no need of another one if also its opacity is not far below. Of large texts so many px are enough.
  const IN_VIEW = 0.1, WELL = 0.98, NOT_FAR_BELOW = 0.25, ENOUGH_PX = 1000;
  // A long line is looked at in parts of so many px.
  const PIECE_PX = 100, MOST_PIECES = 60;
  const MOVES = /^(transform|translate|rotate|scale|opacity|visibility|left|right|top|bottom|inset|margin|offset|--)/;
  let moments = [], changing = [], moving = new Set();
  let mostMoments = 0;
  let moment = null;
  let looks = 0;
  let scrolledTo = null;
  const around = (node) => {
    const outer = node.assignedSlot ?? Reflect.get(Node.prototype, "parentNode", node);
    return outer instanceof ShadowRoot ? outer.host : outer;
  };
  const isOfPage = (element) => element === own("documentElement") || element === own("body");
  const isStuck = ({ position, top, right, bottom, left }) =>
    position === "sticky" && [top, right, bottom, left].some((inset) => inset !== "auto");
  const facts = new Map();
  const factsOf = (element) => {
    if (facts.has(element)) return facts.get(element);
    const style = getComputedStyle(element);
    const { overflowX, overflowY, contain, opacity, position } = style;
    const isCut = /paint|strict|content/.test(contain);
    const scrolls = /auto|scroll/.test(overflowX + overflowY);
    const [x, y] = [overflowX, overflowY].map((value) => isCut || value !== "visible");
    const found = {
      cuts: !isOfPage(element) && (x || y) ? [{ element, x, y, scrolls }] : [],
      fades: opacity !== "1" || moving.has(element) ? [element] : [],
      isFixed: position === "fixed",
      isSticky: isStuck(style),
    };
    facts.set(element, found);
    return found;
  };
  // The parts of a text in a long line, of which no moment shows all.
  const piecesOf = (text, whole) => {
    const [{ width } = { width: 0 }, ...others] = whole.getClientRects();
    const count = others.length ? 1 : Math.min(Math.ceil(width / PIECE_PX), MOST_PIECES);
    if (count <= 1) return [whole];
    const end = (at) => Math.round(at * text.length / count);
    return Array.from({ length: count }, (_, at) => {
      const piece = new Range();
      piece.setStart(text, end(at));
      piece.setEnd(text, end(at + 1));
      return piece;
    });
  };
  // The texts that animations move, in parts, with what it takes to know whether they are in view.
  const textsIn = (animations) => {
    const found = new Map();
    for (const { effect } of animations) {
      for (const [text, style] of laidOut(effect.target)) {
        if (style || found.has(text) || !text.data.trim()) continue;
        if (found.size === MOST_MOVED) return [...found.values()].flat();
        const chain = [];
        const parent = around(text);
        for (let at = parent; at instanceof Element; at = around(at)) chain.push(factsOf(at));
        if (!chain.length) continue;
        const whole = new Range();
        whole.selectNode(text);
        found.set(text, piecesOf(text, whole).map((range) => ({
          range,
          whole,
          parent,
          cuts: chain.flatMap(({ cuts }) => cuts),
          fades: chain.flatMap(({ fades }) => fades),
          isFixed: chain.some((one) => one.isFixed),
          isSticky: chain.some((one) => one.isSticky),
        })));
      }
    }
    return [...found.values()].flat();
  };
  // Whether a text comes to the middle of the window, or of a box, where that is scrolled to; or as near as it can come.
  const isInMiddle = (rect, { source, row, offset, room }) => {
    const [begin, end, size, shift] = row ? ["left", "right", "clientWidth", "scrollLeft"] : ["top", "bottom", "clientHeight", "scrollTop"];
    const [high, origin] = [source[size], source[shift] - (isOfPage(source) ? 0 : source.getBoundingClientRect()[begin])];
    const [first, last] = [rect[begin] + origin, rect[end] + origin];
    const low = last < high / 4 ? 0 : high / 4;
    const most = first - room > 0.75 * high ? high : 0.75 * high;
    return last - offset > low && first - offset < most;
  };
  // Which share of a text is in view, and its opacity.
  const sightOf = ({ range, parent, cuts, fades, isFixed, isSticky }) => {
    if (getComputedStyle(parent).visibility !== "visible") return [0, 0];
    const rect = range.getBoundingClientRect();
    if (scrolledTo && !isFixed && !isSticky && !isInMiddle(rect, scrolledTo)) return [0, 0];
    let { left, top, right, bottom } = rect;
    let [wide, high] = [right - left, bottom - top].map((size) => Math.min(size, ENOUGH_PX));
    for (const { element, x, y, scrolls } of cuts) {
      const box = element.getBoundingClientRect();
      if (scrolls) {
        ({ left, top, right, bottom } = box);
        [wide, high] = [right - left, bottom - top];
      }
      if (x) [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      if (y) [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    [left, right] = [Math.max(left, -scrollX), Math.min(right, innerWidth)];
    [top, bottom] = isFixed ? [Math.max(top, 0), Math.min(bottom, innerHeight)] : [Math.max(top, -scrollY), bottom];
    if (right <= left || bottom <= top || !wide || !high) return [0, 0];
    const opacity = fades.reduce((product, one) => product * getComputedStyle(one).opacity, 1);
    return [Math.min((right - left) / wide, 1) * Math.min((bottom - top) / high, 1), opacity];
  };
  // Keeps the moments at which animations bring some texts in view that are not now, or all texts, if any is not; `timeOf`
  // returns the time of an animation for a share of what a reader sees.
  const keepMoments = (animations, texts, isAll, timeOf, placeOf, others = []) => {
    looks += TRIED * (texts.length + animations.length);
    if (looks > MOST_LOOKS) return;
    const now = animations.map((one) => one.currentTime);
    const set = (share) => {
      animations.forEach((one, at) => {
        one.pause();
        one.currentTime = timeOf(at, share);
      });
      const place = placeOf(share);
      scrolledTo = place.source ? place : null;
      const sights = texts.map(sightOf);
      scrolledTo = null;
      return sights;
    };
    const times = others.map((one) => one.currentTime);
    const reset = () => {
      animations.forEach((one, at) => { one.currentTime = now[at]; });
      others.forEach((one, at) => { one.currentTime = times[at]; });
    };
    const shares = Array.from({ length: TRIED }, (_, at) => (at + Math.random()) / TRIED);
    const before = texts.map(sightOf);
    const sights = shares.map(set);
    reset();
    const isSeen = ([share, opacity]) => share >= IN_VIEW && opacity >= IN_VIEW;
    // Where the texts are that a reader sees then. Others may seem to be in view, but not where the page is scrolled to.
    const show = (share) => {
      others.forEach((one, at) => {
        one.pause();
        one.currentTime = times[at] + placeOf(share).delay * one.playbackRate;
      });
      const found = set(share);
      const seen = texts.filter((_, at) => isSeen(found[at])).map(({ whole }) => whole);
      return [...new Set(seen)].map((whole) => {
        const { left, top, width, height } = whole.getBoundingClientRect();
        return [left + scrollX, top + scrollY, width, height];
      });
    };
    const isBelow = ([share, opacity], [most, clearest]) => share * opacity < WELL * most * clearest;
    const best = texts.map((_, text) => sights.map((one) => one[text]).reduce((one, other) => (isBelow(one, other) ? other : one)));
    const shows = sights.map((one) => one.map((sight, text) => isSeen(sight) && !isBelow(sight, best[text])));
    const seen = texts.map((_, text) => text).filter((text) => sights.filter((one) => isSeen(one[text])).length >= LEAST_SEEN);
    const lost = seen.filter((text) => before[text][0] < WELL * best[text][0] || before[text][1] < NOT_FAR_BELOW * best[text][1]);
    let left = lost.length && isAll ? seen : lost;
    while (left.length && moments.length < mostMoments) {
      const counts = shows.map((one) => left.filter((text) => one[text]).length);
      const at = counts.indexOf(Math.max(...counts));
      moments.push({ show: () => show(shares[at]), reset, place: placeOf(shares[at]) });
      left = left.filter((text) => !shows[at][text]);
    }
  };
  const showsWell = (text) => {
    const [share, opacity] = sightOf(text);
    return share >= WELL && opacity >= NOT_FAR_BELOW;
  };
  const isRow = ({ axis }) => /inline|x/.test(axis);
  // Where what scrolls begins and ends a timeline, and how far a reader can scroll it, in px; null if not at all.
  const reachOf = (timeline) => {
    const { source, subject, startOffset, endOffset } = timeline;
    if (!source || timeline.currentTime === null) return null;
    const overflow = getComputedStyle(source)[isRow(timeline) ? "overflowX" : "overflowY"];
    if (!isOfPage(source) && !/auto|scroll/.test(overflow)) return null;
    const room = isRow(timeline) ? source.scrollWidth - source.clientWidth : source.scrollHeight - source.clientHeight;
    const [begin, end] = subject ? [startOffset, endOffset].map((one) => one?.to("px").value) : [0, room];
    return end > begin && Math.min(end, room) > Math.max(begin, 0) ? { begin, end, room } : null;
  };
  const keepDriven = (all) => {
    const byTimeline = Map.groupBy(all, ({ timeline }) => timeline);
    const texts = new Map([...byTimeline].map(([timeline, own]) => [timeline, textsIn(own)]));
    const lost = [...byTimeline.keys()].filter((timeline) => !texts.get(timeline).every(showsWell));
    if (!lost.length) return;
    const timelines = new Map([...byTimeline.keys()].map((timeline) => [timeline, reachOf(timeline)]));
    const driven = all.filter(({ timeline }) => timelines.get(timeline));
    // Its time counts from the begin of its range.
    const before = driven.map((one) => (halfway.includes(one) ? 50 : one.timeline.currentTime.value) - one.currentTime.value);
    for (const timeline of lost.filter((one) => timelines.get(one))) {
      if (moments.length === mostMoments) return;
      const { begin, end: last, room } = timelines.get(timeline);
      const [first, rest] = [Math.max(begin, 0), Math.min(last, room) - Math.max(begin, 0)];
      const [source, row, offsetOf] = [timeline.source, isRow(timeline), (share) => first + share * rest];
      // All that follow the same box do so at once.
      const numbers = driven.map((_, at) => at).filter((at) => driven[at].timeline.source === source
        && isRow(driven[at].timeline) === row);
      const timeOf = (at, share) => {
        const own = timelines.get(driven[numbers[at]].timeline);
        return CSS.percent(100 * (offsetOf(share) - own.begin) / (own.end - own.begin) - before[numbers[at]]);
      };
      const placeOf = (share) => ({ source, row, offset: offsetOf(share), room });
      keepMoments(numbers.map((at) => driven[at]), texts.get(timeline), true, timeOf, placeOf);
    }
  };
  const keepEndless = (endless, others) => {
    const now = endless.map((one) => one.currentTime);
    const periods = endless.map(({ effect, playbackRate, currentTime }) => {
      const { direction, duration } = effect.getComputedTiming();
      return ((/alternate/.test(direction) ? 2 : 1) * duration + Math.max(-currentTime, 0)) / playbackRate;
    });
    const span = Math.min(Math.max(...periods), LONGEST_MS);
    const texts = textsIn(endless).filter((one) => !showsWell(one));
    const timeOf = (at, share) => now[at] + share * span * endless[at].playbackRate;
    if (texts.length) keepMoments(endless, texts, false, timeOf, (share) => ({ delay: share * span }), others);
  };
  const noNoscript = new CSSStyleSheet();
  noNoscript.replaceSync("noscript { display: none !important }");
  const frame = () => new Promise((done) => requestAnimationFrame(done));

  return {
    async quiet(stillMs, limitMs) {
      const end = performance.now() + limitMs;
      for (;;) {
        const now = performance.now();
        if (now - lastChange >= stillMs) {
          // Timers of the page that are overdue on a busy machine come first.
          await sleep(1);
          if (lastChange < now) return true;
        }
        if (now >= end) return false;
        await sleep(Math.max(1, Math.min(lastChange + stillMs, end) - now));
      }
    },

    async scrollThrough(limitMs, limitSteps) {
      const end = performance.now() + limitMs;
      let height = -1;
      for (let step = 0, still = 0; step < limitSteps && still < 2 && performance.now() < end; step++) {
        scrollBy(0, innerHeight * 0.8);
        await frame();
        await frame();
        const root = own("scrollingElement") ?? own("documentElement");
        const isAtEnd = scrollY + innerHeight >= root.scrollHeight - 1;
        if (isAtEnd) await sleep(250); // for what is fetched when the end comes in view
        still = isAtEnd && root.scrollHeight === height ? still + 1 : 0;
        height = root.scrollHeight;
      }
      scrollTo(0, 0);
    },

    reached(selector) {
      return allTrees().reduce((sum, tree) => sum + tree.querySelectorAll(selector).length, 0);
    },

    visit(places) {
      const [x, y] = [scrollX, scrollY];
      elsewhere = places.map(([left, top, right, bottom]) =>
        () => new DOMRect(left + x - scrollX, top + y - scrollY, right - left, bottom - top));
      elsewhere = elsewhere.filter((one) => !isNear(one(), 0));
    },

    // Called again and again, because no timer goes on without scripts.
    rests(leftMs, lazyMs) {
      if (brings(lazyMs)) return false;
      return !own("getAnimations").call(document).some((one) => endsWithin(one, leftMs));
    },

    notePictures() {
      const found = [];
      for (const [inner, x, y] of places(document, scrollX, scrollY)) {
        for (const tree of trees(inner)) {
          for (const one of tree.querySelectorAll("img, iframe, video")) {
            if (!isLaidOut(one)) continue;
            const box = one.getBoundingClientRect();
            found.push([one, isAwaited(one), one.naturalWidth, [x + box.left, y + box.top, x + box.right, y + box.bottom]]);
          }
        }
      }
      pictures = found;
    },

    lostPictures() {
      return pictures.filter(([one, isLate, width]) => isLate || one.naturalWidth !== width).map((one) => one[3]);
    },

    shows(selector) {
      try {
        return Boolean(first(selector));
      } catch {
        return null;
      }
    },

    // Returns where the element is, [x, y] in the window; [] when it is clicked already, for another one covers it; false
    // when there is none.
    async aim(selector) {
      let element;
      try {
        element = first(selector);
      } catch {
        return null;
      }
      if (!element) return false;
      element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
      const box = [...element.getClientRects()].find((rect) => rect.width > 0 && rect.height > 0);
      if (box) {
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        const top = element.getRootNode().elementFromPoint(x, y);
        if (top && (top === element || element.contains(top))) return [x, y];
      }
      element.click();
      return [];
    },

    goUp() {
      scrollTo({ left: 0, top: 0, behavior: "instant" });
    },

    // An address with a fragment or a script may have scrolled the page or boxes in it, and some snap. Returns whether
    // any was scrolled; the page itself counts only `withPage`.
    unscroll(withPage) {
      const page = document.scrollingElement;
      const found = allTrees().flatMap((tree) => [...tree.querySelectorAll("*")])
        .filter((one) => (withPage || one !== page) && isLaidOut(one) && (part(one, "scrollTop") || part(one, "scrollLeft")));
      found.forEach(begin);
      return found.length > 0;
    },

    hideNoscript(isHidden) {
      document.adoptedStyleSheets = [
        ...[...document.adoptedStyleSheets].filter((sheet) => sheet !== noNoscript), ...(isHidden ? [noNoscript] : []),
      ];
    },

    resume() {
      for (const one of halfway) one.play();
      halfway = [];
    },

    // Returns the properties that change, and of each moment how far down the page is scrolled then, and how many ms later
    // it is: null for the former if it does not depend on that, and -1 if it depends on something else that is scrolled.
    moments() {
      const isHalfway = new Set(halfway);
      const keysOf = (one) => one.effect.getKeyframes().flatMap(Object.keys);
      const every = [...trees(document)].flatMap(animationsOf);
      const all = every.filter((one) =>
        one.effect?.target && !one.effect.pseudoElement && keysOf(one).some((name) => MOVES.test(name)));
      const driven = all.filter((one) => one.timeline && "source" in one.timeline && one.currentTime !== null
        && (isHalfway.has(one) || one.playState === "running"));
      const endless = all.filter((one) => one.timeline instanceof DocumentTimeline && one.playState === "running"
        && one.playbackRate > 0
        && one.effect.getComputedTiming().endTime === Infinity && one.effect.getComputedTiming().duration >= SHORTEST_MS);
      // What covers texts may be at other times, too.
      const others = every.filter((one) => one.timeline instanceof DocumentTimeline
        && one.effect && one.playState === "running" && !endless.includes(one));
      [moments, looks, changing] = [[], 0, [...driven, ...endless, ...others]];
      moving = new Set([...driven, ...endless].map(({ effect }) => effect.target));
      facts.clear();
      mostMoments = Math.min(MOST_MOMENTS, Math.floor(MOST_CAPTURED / own("getElementsByTagName").call(document, "*").length));
      try {
        if (driven.length) keepDriven(driven);
        if (endless.length) keepEndless(endless, others);
      } catch { // an animation that cannot be set; the page is captured as it is
        [moments, scrolledTo] = [[], null];
      }
      if (!moments.length) this.goTo(-1);
      const names = changing.flatMap(keysOf).map((name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
      const whenOf = ({ place: { source, row, offset, delay } }) =>
        (source ? [isOfPage(source) && !row ? offset : -1, 0] : [null, delay]);
      return [[...new Set(names)], moments.map(whenOf)];
    },

    goTo(number) {
      moment?.reset();
      moment = moments[number];
      if (moment) return moment.show();
      // What is captured halfway goes on later.
      for (const one of changing) if (one.playState === "paused" && !halfway.includes(one)) one.play();
      return [];
    },

    trim(limit, endMs, lateEndMs) {
      const walker = own("createTreeWalker").call(document, document);
      let count = 1;
      let last = null;
      while (walker.nextNode()) if (++count === limit) last = walker.currentNode;
      if (last && count > limit) {
        const rest = new Range();
        rest.setStartAfter(last);
        rest.setEndAfter(own("documentElement"));
        rest.deleteContents();
      }
      // Half of what a capture carries would be source code, which nobody wants.
      for (const script of own("scripts")) if (!isData(script) && script.textContent) script.textContent = " "; // not :empty
      for (const one of allTrees().flatMap(animationsOf)) {
        if (endsWithin(one, endMs) || (waits(one) && one.effect.getComputedTiming().endTime <= lateEndMs)) one.finish();
        if (followsItsElement(one)) {
          // Its time counts from the begin of its range.
          const begin = one.timeline.currentTime?.sub(one.currentTime ?? CSS.percent(0)) ?? CSS.percent(0);
          one.pause();
          one.currentTime = CSS.percent(50).sub(begin);
          halfway.push(one);
        }
      }
      release();
      showSkipped();
      return count;
    },
  };
})();
