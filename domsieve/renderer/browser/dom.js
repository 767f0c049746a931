// Evaluated first in the isolated worlds of a document, where nothing the page has patched can reach it: what the other
// scripts there share.
// part(object, type, name), run(object, type, name, ...values): what an object has of a class, and calls of it.
// own(name): the same of the document. kind(node), viewOf(element): the type of a node, and the window of an element.
// isLaidOut(element): whether it is.
// trees(root), places(document, x, y), allTrees(): the shadow trees in a tree, the documents in one, and both of all.
// laidOut(root): what may be laid out in an element.
// animated(element, look): gives an element a look, by an animation, and returns that.
// selectorsOf(elements): selectors of elements by their places in their trees, which are stronger than those of pages.
// isSkipping(element, style): whether it is a box that has content only near the window.
// unskip(elements): shows what such boxes have there; returns the animations that do so.
// refersToSkipped(): whether there are parts of drawings with a name in such boxes, and something elsewhere refers to any part.
// overflows(box): see below. isVisible(element): whether neither `visibility` nor `opacity: 0` hides it.
// above(element): what is around it as the browser draws it, also of frames. NAMED_PARTS: selects the parts of drawings that
// others may refer to.
// showsNoscript(tree): whether a tree has a noscript that browsers show, whether scripts are on or not.
// scrolls(style), canScroll(element): whether a box can be scrolled to the side, and down; and by a reader.
// animationsOf(tree), runs(animation), endsWithin(animation, ms): animations, whether one goes by the clock, and ends soon.
// isYoung(animation, ms): whether it has gone on for less than so long.
// lasts(animation, ms): how long an animation may last that counts as it ends if readers stay for so long.
// leftOf(animation): in how many ms it ends.
// repeats(animation): whether it repeats for longer than readers stay; what it shows is looked at again and again.
// isEndless(animation), periodOf(animation): whether it goes on for ever, or almost, and in how many ms it comes back.
// begins(animation, ms): whether it is one of these and begins within so long.
// isPassing(animation, ms): whether readers who stay for so long find it in another state, in which it counts.
// bringTo(animation, from, ms): brings an animation that had the time `from` to where it is after so long.
// refreshOf(document): after how many ms, since it began, it goes elsewhere, begins again or goes to a fragment
// (`http-equiv=refresh`), and which fragment; Infinity if it does not.
// refreshBy(headers): notes what the headers `Refresh` of documents say, by their addresses.
// leavesIn(document): in how many ms it goes elsewhere or begins again, or one around it does.
// clocksOf(tree): the drawings that have a clock for their own animations (SMIL), unless it is stopped.
// hasOwn(drawing): whether it has such animations.
// isSent(events): whether `begin` or `end` of such an animation names an event that may come by itself.
// isBounded(style): whether the bounds of sizes in a computed style map are lengths.
// paintsBeyond(element): whether a picture or the like paints beyond its box.
// restlessIn(trees): see below.
// hold(animation), isHeld(animation), letGo(animation): pauses one at the very time it has, and lets it go on.
// XHTML, HTML: the namespace of HTML, and the rule that gives it a name in a style sheet.
// NOBODY, STRONGEST: a selector that nothing has, and one that all have and that is stronger than those of pages.
globalThis.dom = (() => {
  const NOBODY = "#SECRET_NAME"; // another one in each process
  // Forms can have fields named like properties, so these are read from the prototypes.
  const part = (object, type, name) => Reflect.get(type.prototype, name, object);
  const run = (object, type, name, ...values) => part(object, type, name).apply(object, values);
  // A form named "scripts" would stand in for document.scripts, in every world.
  const own = (name) => part(document, Document, name);
  // Objects of frames are instances of other classes.
  const kind = (node) => part(node, Node, "nodeType");
  const isTextNode = (node) => [Node.TEXT_NODE, Node.CDATA_SECTION_NODE].includes(kind(node));
  // Any other question would lay out an element that is in a closed <details>, and then it seems to be seen.
  const isLaidOut = (element) => run(element, Element, "checkVisibility");
  const viewOf = (element) => part(part(element, Element, "ownerDocument"), Document, "defaultView");
  // A document, a shadow tree or an element, and all open shadow trees in it, in document order.
  const trees = function* (root) {
    yield root;
    const elements = root.querySelectorAll("*");
    for (const element of kind(root) === Node.ELEMENT_NODE ? [root, ...elements] : elements) {
      const inner = part(element, Element, "shadowRoot");
      if (inner) yield* trees(inner);
    }
  };
  // The documents of the same origin, each with the place of its window and its trees.
  const places = function* (inner, x, y) {
    const all = [...trees(inner)];
    yield [inner, x, y, all];
    for (const one of all.flatMap((tree) => [...tree.querySelectorAll("iframe, frame")])) {
      if (!one.contentDocument) continue;
      if (isLaidOut(one)) { // else the question for its box would lay it out
        const box = one.getBoundingClientRect();
        yield* places(one.contentDocument, x + box.left + one.clientLeft, y + box.top + one.clientTop);
      } else yield* places(one.contentDocument, x, y);
    }
  };
  const allTrees = () => [...places(document, 0, 0)].flatMap(([, , , all]) => all);
  // Of lines and rows, other than of pictures and the like in a line, `content-visibility` skips nothing.
  const ROWS = /^table-(row|column|header|footer)/, LINES = /^(inline( list-item)?|ruby|ruby-text|contents)$/;
  const skips = ({ display, width }) => !ROWS.test(display) && (!LINES.test(display) || width !== "auto");
  // The nodes inside of an element in the flat tree that may be laid out.
  const inside = (element) => {
    const name = part(element, Element, "localName");
    if (name === "details" && element.open === false) {
      return [...element.children].filter((one) => part(one, Element, "localName") === "summary").slice(0, 1);
    }
    const slotted = name === "slot" ? element.assignedNodes?.() ?? [] : [];
    return slotted.length ? slotted : part(part(element, Element, "shadowRoot") ?? element, Node, "childNodes");
  };
  const layOut = (node) => {
    const range = own("createRange").call(document);
    range.selectNodeContents(node);
    range.getBoundingClientRect();
  };
  // The elements that may be laid out, each with its style, and the texts in them. Styles of elements in hidden ones are
  // not asked for, because Chrome then lays these out. What is skipped far from the window is laid out so, without that a
  // script is told: asked for styles alone, Chrome has no boxes of texts there.
  const laidOut = function* (root) {
    const waiting = root ? [root] : [];
    while (waiting.length) {
      const node = waiting.pop();
      if (isTextNode(node)) yield [node];
      if (kind(node) !== Node.ELEMENT_NODE) continue;
      const style = getComputedStyle(node);
      if (style.display === "none" || (style.contentVisibility === "hidden" && skips(style))) continue;
      yield [node, style];
      const isSkipped = style.contentVisibility === "auto";
      for (const one of inside(node)) {
        waiting.push(one);
        if (isSkipped) layOut(one);
      }
    }
  };
  // The worlds of a document have only such properties in common.
  const [OWN, HELD] = [`own of ${NOBODY}`, `held as ${NOBODY}: `];
  const isOwn = ({ id }) => id === OWN;
  // Animations are the only change of an element that no selector matches.
  const animated = (element, look) => {
    // Else the browser removes those of the page that have ended, as this is above them.
    for (const one of run(element, Element, "getAnimations")) one.persist();
    const animation = run(element, Element, "animate", look, { duration: 1, fill: "forwards" });
    animation.finish();
    animation.id = OWN;
    return animation;
  };
  // The page and its body begin in the window, and their containment is also that of the window.
  const isSkipping = (element, style) => {
    if (style.contentVisibility !== "auto" || !skips(style)) return false;
    const { documentElement, body } = part(element, Node, "ownerDocument");
    return element !== documentElement && element !== body;
  };
  // What they contain stays contained: https://www.w3.org/TR/css-contain-2/#content-visibility. No animation says so, and no
  // selector of a page matches a style sheet, which finds them by their places in their trees (`ways`).
  const MOST_RUNS = 1_000; // a bound of the work
  const containing = ({ contain }) =>
    `${/strict|(^| )size/.test(contain) ? "size " : /inline-size/.test(contain) ? "inline-size " : ""}layout style paint`;
  const XHTML = "http://www.w3.org/1999/xhtml", HTML = `@namespace html url(${XHTML});`;
  const STRONGEST = `:not(${NOBODY})`.repeat(9);
  const ways = () => {
    const numbers = new Map(), paths = new Map();
    const numberOf = (element) => {
      const parent = part(element, Node, "parentNode");
      if (!numbers.has(parent)) {
        const all = part(parent, kind(parent) === Node.ELEMENT_NODE ? Element : DocumentFragment, "children");
        numbers.set(parent, new Map([...all].map((one, at) => [one, at + 1])));
      }
      return numbers.get(parent).get(element);
    };
    const pathOf = (node) => {
      if (kind(node) !== Node.ELEMENT_NODE) return ":host";
      if (node === part(part(node, Node, "ownerDocument"), Document, "documentElement")) return ":root";
      if (!paths.has(node)) paths.set(node, `${pathOf(part(node, Node, "parentNode"))} > :nth-child(${numberOf(node)})`);
      return paths.get(node);
    };
    return { numberOf, pathOf };
  };
  const selectorsOf = (elements) => {
    const { pathOf } = ways();
    return elements.map((element) => `${pathOf(element)}${STRONGEST}`);
  };
  const unskipped = new Set();
  const unskip = (elements) => {
    for (const one of elements) unskipped.add(one);
    const { numberOf, pathOf } = ways();
    for (const [tree, some] of Map.groupBy(elements, (one) => run(one, Node, "getRootNode"))) {
      const runs = [];
      for (const element of some) {
        const [parent, number] = [part(element, Node, "parentNode"), numberOf(element)];
        const contain = containing(getComputedStyle(element)), last = runs.at(-1);
        if (last?.parent === parent && last.contain === contain && last.end === number - 1) last.end = number;
        else runs.push({ parent, contain, begin: number, end: number });
      }
      const rules = runs.slice(0, MOST_RUNS).map(({ parent, contain, begin, end }) =>
        `${pathOf(parent)} > :nth-child(n+${begin}):nth-child(-n+${end})${STRONGEST} { contain: ${contain} !important }`);
      const made = new CSSStyleSheet();
      made.replaceSync(rules.join("\n"));
      tree.adoptedStyleSheets = [...tree.adoptedStyleSheets, made];
    }
    const isContained = (one) => /^(content|strict)$|layout style paint/.test(getComputedStyle(one).contain);
    return elements.filter(isContained).map((one) => animated(one, { contentVisibility: "visible" }));
  };
  // Whether more is in a box than it shows, to the side and down.
  const overflows = (box) => [["scrollWidth", "clientWidth"], ["scrollHeight", "clientHeight"]]
    .map(([whole, shown]) => part(box, Element, whole) > part(box, Element, shown) + 1);
  const isVisible = (element) => run(element, Element, "checkVisibility", { opacityProperty: true, visibilityProperty: true });
  const above = (element) => {
    const root = run(element, Element, "getRootNode");
    const host = kind(root) === Node.DOCUMENT_FRAGMENT_NODE ? root.host : viewOf(element)?.frameElement;
    return part(element, Element, "assignedSlot") ?? part(element, Element, "parentElement") ?? host;
  };
  // Patterns, masks and other parts of drawings that the browser skips far from the window do not exist for drawings elsewhere.
  const NAMED_PARTS = "svg[id], svg [id]";
  const REFERRING = ["fill", "stroke", "mask", "clipPath", "filter", "backdropFilter", "markerStart", "markerMid", "markerEnd",
    "offsetPath"];
  const refersByName = (style) => REFERRING.some((name) => style[name].includes("#"));
  // Whether a box around an element shows its content to nobody, which is laid out only if a script asks for it.
  const isNeverShown = (element) => {
    let one = element;
    while (one && !isLaidOut(one)) one = above(one);
    return Boolean(one) && one !== element
      && (getComputedStyle(one).contentVisibility === "hidden" || run(one, Element, "matches", "details:not([open])"));
  };
  const refersToSkipped = () => {
    if (!unskipped.size) return false;
    const skippedBy = (one) => (!one || unskipped.has(one) ? one : skippedBy(above(one)));
    const isDrawn = (one) => [...part(one, Element, "attributes")].some(({ localName, value }) =>
      localName === "href" && value.includes("#") && !run(one, Element, "matches", "a, area, link, base"));
    const refers = (one) =>
      isDrawn(one) || ["", "::before", "::after", "::backdrop"].some((pseudo) => refersByName(getComputedStyle(one, pseudo)));
    const found = (selector) => allTrees().flatMap((tree) => [...tree.querySelectorAll(selector)]);
    const boxes = new Set(found(NAMED_PARTS).map(skippedBy).filter(Boolean));
    const others = new Set(boxes.size ? found("*").filter(refers).map(skippedBy) : []);
    return [...boxes].some((box) => [...others].some((other) => other !== box));
  };
  // Whether a size, or the bounds of one, are lengths: what a word says, or `calc-size()`, may follow the content.
  const isLength = (style, name) => ["unit", "operator"].some((key) => key in (style.get(name) ?? {}));
  const BOUNDS = ["min-width", "min-height", "max-width", "max-height", "flex-basis"];
  const isBounded = (style) => BOUNDS.every((name) => isLength(style, name) || /^(auto|none)$/.test(style.get(name)?.value));
  // Whether something replaced, such as a picture, paints beyond its box. If nothing says otherwise, it does not.
  const REPLACED = "img, video, canvas, embed, input[type=image i]";
  const paintsBeyond = (element) => {
    const { overflow, overflowClipMargin } = getComputedStyle(element);
    const isCut = !/visible/.test(overflow) && !(/clip/.test(overflow) && /[1-9]/.test(overflowClipMargin));
    return !isCut && run(element, Element, "matches", REPLACED);
  };
  const scrolls = ({ overflowX, overflowY }) => [overflowX, overflowY].map((value) => /auto|scroll/.test(value));
  // They do so if it has no box of its own.
  const showsNoscript = (tree) => [...tree.querySelectorAll("noscript")]
    .some((one) => !isNeverShown(one) && getComputedStyle(one).display === "contents");
  // Along which axes the page can be scrolled by its styles: the body says so only if the root does not.
  const openAxes = () => {
    const styles = [own("documentElement"), own("body")].filter(Boolean).map((one) => getComputedStyle(one));
    const style = styles.find(({ overflowX, overflowY }) => overflowX !== "visible" || overflowY !== "visible");
    return ["overflowX", "overflowY"].map((overflow) => !/hidden|clip/.test(style?.[overflow] ?? ""));
  };
  const canScroll = (element) => {
    if (element === document.scrollingElement) return [true, true];
    const style = getComputedStyle(element);
    const { pointerEvents, interactivity } = style;
    if (pointerEvents === "none" || interactivity === "inert" || element.closest("[inert]")) return [false, false];
    const { scrollingElement, documentElement, body, defaultView } = element.ownerDocument;
    if (element !== scrollingElement) return scrolls(style);
    const frame = defaultView?.frameElement;
    const isOpen = [documentElement, body].every((one) => !one || !/hidden|clip/.test(getComputedStyle(one).overflow));
    return Array(2).fill(isOpen && !/^(no|off|noscroll)$/i.test(frame?.getAttribute("scrolling") ?? ""));
  };
  // Each tree has its own. Objects of frames are instances of other classes.
  const animationsOf = (tree) =>
    run(tree, kind(tree) === Node.DOCUMENT_NODE ? Document : ShadowRoot, "getAnimations");
  // https://html.spec.whatwg.org/multipage/semantics.html#attr-meta-http-equiv-refresh
  // Chrome also takes other white space for such, as far as Unicode does (the bidirectional class WS).
  const WHITE = "\\t\\n\\v\\f\\r \\u1680\\u2000-\\u200a\\u2028\\u205f\\u3000";
  const REFRESH = new RegExp(`^[${WHITE}]*(\\d[\\d.]*)(?:(?=[;,${WHITE}])[${WHITE}]*[;,]?[${WHITE}]*(.*))?$`, "s");
  // Browsers let documents in a sandbox without scripts go nowhere.
  const stays = (inner) => {
    const frame = part(inner, Document, "defaultView")?.frameElement;
    if (!frame) return false;
    const words = frame.getAttribute("sandbox")?.toLowerCase().split(/\s+/);
    return (words && !words.includes("allow-scripts")) || stays(part(frame, Node, "ownerDocument"));
  };
  let refreshes = new Map();
  const refreshBy = (headers) => {
    refreshes = new Map(Object.entries(headers));
  };
  const refreshOf = (inner) => {
    if (stays(inner)) return { ms: Infinity };
    const metas = [...inner.querySelectorAll("meta[http-equiv=refresh i][content]")].filter((one) =>
      part(one, Element, "namespaceURI") === "http://www.w3.org/1999/xhtml");
    const headers = refreshes.get(part(inner, Document, "URL").split("#")[0]) ?? [];
    const found = [...headers, ...metas.map((one) => one.getAttribute("content"))].flatMap((said) => {
      const [, seconds, rest = ""] = said.match(REFRESH) ?? [];
      if (!seconds) return [];
      const address = rest.replace(/^url\s*=\s*/i, "").replace(/^(["'])(?:(.*)\1.*|(.*))$/s, "$2$3");
      const base = part(inner, Document, "baseURI"), [own] = part(inner, Document, "URL").split("#");
      const [page, fragment] = (URL.canParse(address, base) ? new URL(address, base).href : address).split(/#(.*)/s);
      return [{ ms: 1000 * parseFloat(seconds), fragment: page === own && address ? fragment : undefined }];
    });
    return found.reduce((first, one) => (one.ms <= first.ms ? one : first), { ms: Infinity });
  };
  const leavesIn = (inner) => {
    const view = part(inner, Document, "defaultView"), { ms, fragment } = refreshOf(inner);
    const ownMs = fragment === undefined ? Math.max(ms - view.performance.now(), 0) : Infinity;
    return view.frameElement ? Math.min(ownMs, leavesIn(part(view.frameElement, Node, "ownerDocument"))) : ownMs;
  };
  // Elements of other namespaces may have this name.
  const clocksOf = (tree) => [...tree.querySelectorAll("svg")].filter((one) =>
    part(one, Element, "namespaceURI") === "http://www.w3.org/2000/svg" && !run(one, SVGSVGElement, "animationsPaused"));
  const ANIMATING = "animate, animateMotion, animateTransform, set";
  const hasOwn = (drawing) => drawing.querySelector(ANIMATING) !== null;
  // Events that may come by themselves, or when a reader scrolls, in `begin` and `end` of animations of drawings: all but those
  // of pointers, keys and fields.
  const SENT = new RegExp(`(^|[;.\\s])(${[
    "repeat", "(begin|end|repeat)Event", "(webkit)?(animation|transition)\\w+", "(before)?toggle", "(mouse)?wheel", "scroll\\w*",
    "snap\\w*", "load\\w*", "error", "abort", "resize", "contentvisibilityautostatechange", "canplay\\w*", "durationchange",
    "emptied", "ended", "pause", "play(ing)?", "progress", "ratechange", "seek(ed|ing)", "stalled", "suspend", "timeupdate",
    "volumechange", "waiting(forkey)?", "cuechange", "encrypted",
  ].join("|")})(?![\\w.]|-[a-z])`, "i");
  const isSent = (events) => SENT.test(events ?? "");
  // Those of frames are instances of other classes. What stands still goes nowhere.
  const hasClock = ({ timeline }) => timeline && !("source" in timeline);
  const runs = (one) => one.effect && hasClock(one) && one.playState === "running" && one.playbackRate !== 0;
  // How long an animation goes on, in ms. Some run backwards, and some have a start that is yet to come.
  const leftOf = ({ effect, currentTime, playbackRate }) => (playbackRate > 0
    ? effect.getComputedTiming().endTime - currentTime : currentTime) / Math.abs(playbackRate);
  const endsWithin = (animation, ms) => Boolean(runs(animation)) && leftOf(animation) <= ms;
  // An animation is as old as its time says, or as long as its start has been seen to stay the same.
  const starts = new Map();
  const isYoung = (animation, ms) => {
    const { currentTime, startTime, playbackRate } = animation;
    if (!ms || !runs(animation) || (playbackRate > 0 && currentTime >= ms * playbackRate)) return false;
    const now = performance.now();
    const known = starts.get(animation);
    if (known?.startTime === startTime && known.playbackRate === playbackRate) return now - known.since < ms;
    starts.set(animation, { startTime, playbackRate, since: now });
    return true;
  };
  // What is over so soon is not waited for. What repeats so fast may hide something as long as it goes on. What repeats as
  // slowly as this is like what does not repeat, and what repeats for so long is like what does so for ever.
  const SOON_MS = 5_000, FAST_MS = 1_000, SLOW_MS = 120_000, ENDLESS_MS = 600_000;
  const isFast = ({ effect, playbackRate }) => {
    const { duration, iterations } = effect.getComputedTiming();
    return iterations > 1 && duration < FAST_MS * Math.abs(playbackRate);
  };
  const lasts = (animation, ms) => (isFast(animation) ? SOON_MS : ms);
  const periodOf = ({ effect, playbackRate }) => {
    const { direction, duration } = effect.getComputedTiming();
    return (/alternate/.test(direction) ? 2 : 1) * duration / Math.abs(playbackRate);
  };
  const repeats = (animation) => {
    const timing = animation.effect.getComputedTiming();
    if (isFast(animation)) return leftOf(animation) > SOON_MS;
    return timing.iterations > 1 && leftOf(animation) > ENDLESS_MS && periodOf(animation) <= SLOW_MS;
  };
  const isEndless = (animation) =>
    animation.effect.getComputedTiming().endTime === Infinity || (leftOf(animation) > ENDLESS_MS && repeats(animation));
  const begins = (animation, ms) => {
    if (!runs(animation) || !repeats(animation)) return false;
    const wait = (animation.effect.getComputedTiming().delay - animation.currentTime) / animation.playbackRate;
    return wait > 0 && wait <= ms;
  };
  const isPassing = (animation, ms) => Boolean(runs(animation)) && (!repeats(animation) || begins(animation, ms));
  const bringTo = (animation, from, ms) => {
    animation.currentTime = from;
    const left = leftOf(animation);
    const isOver = left <= ms;
    // What repeats fast is looked at while it does.
    const passed = isOver && repeats(animation) ? left - SOON_MS : ms;
    animation.currentTime = from + passed * animation.playbackRate;
    if (isOver && passed === ms) animation.finish();
  };
  // Of key frames, what only changes how boxes are painted. All else may change their size, or what other styles say.
  const PAINTING = new RegExp(`^(offset.*|transform.*|translate|rotate|scale|opacity|${[
    "visibility", "(backdropF|f)ilter", "clipPath", "color", ".*Color", ".*Shadow", "background.*", "mask.*", "stroke.*", "fill.*", "zIndex",
  ].join("|")})$`);
  // Whether style sheets may ask for the size of a box in a tree.
  const hasSizeQueries = (root) => [...root.querySelectorAll("*")].filter(isLaidOut)
    .some((one) => getComputedStyle(one).containerType.includes("size"));
  // What animations of some trees may bring about that no reader has at once. late, turns: some, or transitions, end later
  // than they are awaited, and others go on for ever, or change more than how boxes are painted until then. shows: they
  // change which elements are shown at all. sizes: some that have not ended change the size of boxes or frames, which styles
  // may ask for. canvas: there is one, which some may lay out anew, and it has no picture then if scripts are off.
  // backwards: some run backwards, as a script has let them. lag: transitions follow some that go on for ever.
  // long: some take very long and do not repeat.
  const restlessIn = (all) => {
    // Key frames do not tell of custom properties, which others may follow.
    const changes = ({ computedOffset, offset, easing, composite, ...all }) => Object.keys(all);
    const isLayingOut = (names) => !names.length || names.some((name) => !PAINTING.test(name));
    const laysOut = (one) => hasClock(one) && one.effect?.getKeyframes().map(changes).some(isLayingOut);
    // A script may have made it slower or faster, or let it start later.
    const endsOf = (one) => {
      if (!hasClock(one) || !one.effect) return [];
      const { endTime } = one.effect.getComputedTiming();
      return [endTime, endTime / Math.abs(one.playbackRate || 1), leftOf(one) || 0];
    };
    const endOf = (one) => Math.max(0, ...endsOf(one));
    const isLate = (one) => endsOf(one).some((end) => end > SOON_MS && end < ENDLESS_MS);
    // A transition that has not begun yet; those of hours keep browsers from colouring fields.
    const waitsLong = (one) => {
      const style = getComputedStyle(one);
      const [delays, lengths] = [style.transitionDelay, style.transitionDuration]
        .map((list) => list.split(",").map((time) => 1000 * parseFloat(time)));
      return delays.map((delay, at) => delay + lengths[at % lengths.length]).some((end) => end > SOON_MS && end < ENDLESS_MS);
    };
    // Transitions of what is inherited begin as an animation above changes it, and lag behind it.
    const INHERITED = /^(visibility|color|font.*|letterSpacing|wordSpacing|lineHeight|text(Indent|Shadow|Transform|Align)|fill.*|stroke.*|--.*)$/;
    const within = (root) => [...trees(root)].flatMap((tree) => [...tree.querySelectorAll("*")]).flatMap((one) =>
      (one instanceof HTMLSlotElement ? [one, ...one.assignedElements().flatMap((inner) => [inner, ...within(inner)])] : [one]));
    const lags = ({ effect }) => {
      const names = new Set(effect.getKeyframes().flatMap(changes));
      // Lengths may follow the size of a font, and colours the colour.
      const isInherited = !names.size || [...names].some((name) => INHERITED.test(name));
      const follows = ({ transitionProperty, transitionDelay, transitionDuration }) => /[1-9]/.test(transitionDelay + transitionDuration)
        && (isInherited || transitionProperty.split(", ").some((name) => names.has(name)));
      const parts = ["::before", "::after"];
      const partsOf = (one) => parts.map((name) => getComputedStyle(one, name));
      const styles = within(effect.target).filter(isLaidOut).flatMap((inner) => [getComputedStyle(inner), ...partsOf(inner)]);
      return [...styles, ...(isLaidOut(effect.target) ? partsOf(effect.target) : [])].some(follows);
    };
    const FRAMES = "iframe, frame, object, embed";
    const holdsFrame = (one) => one?.matches(FRAMES) || one?.querySelector(FRAMES);
    const isUnfinished = (one) => !isOwn(one) && one.playState !== "finished";
    const hasCanvas = all.some((root) => root.querySelector("canvas"));
    const is = {
      canvas: (animations, root) => hasCanvas && (animations.some(isUnfinished)
        || root.querySelector(ANIMATING) !== null),
      backwards: (animations) => animations.some((one) => one.playbackRate < 0 && one.playState === "running"),
      late: (animations, root) => animations.some(isLate) || [...root.querySelectorAll("*")].filter(isLaidOut).some(waitsLong),
      turns: (animations) => animations.some((one) =>
        endOf(one) >= ENDLESS_MS || (isLate(one) && (laysOut(one) || (runs(one) && repeats(one))))),
      long: (animations) => animations.some((one) => !isOwn(one) && endOf(one) >= ENDLESS_MS && !(one instanceof CSSTransition)
        && one.effect.getComputedTiming().iterations === 1),
      lag: (animations) => animations.some((one) => !isOwn(one) && one.effect?.target && endOf(one) >= ENDLESS_MS && lags(one)),
      shows: (animations, root) => animations.some((one) =>
        !isOwn(one) && one.effect?.getKeyframes().some((key) => "display" in key || "contentVisibility" in key))
        || [...root.querySelectorAll("[attributeName]")].some((one) => one.getAttribute("attributeName").trim() === "display"),
      sizes: (animations, root) => {
        const found = animations.filter((one) => isUnfinished(one) && laysOut(one));
        return found.some(({ effect }) => holdsFrame(effect.target)) || (found.length > 0 && hasSizeQueries(root));
      },
    };
    const known = all.map((root) => [animationsOf(root), root]);
    return Object.keys(is).filter((name) => known.some((pair) => is[name](...pair)));
  };
  const isHeld = ({ id }) => id.startsWith(HELD);
  const hold = (animation) => {
    const time = animation.currentTime;
    animation.pause();
    animation.currentTime = time; // a pause takes a moment
    animation.id = HELD + animation.id;
  };
  const letGo = (animation) => {
    animation.id = animation.id.slice(HELD.length);
    animation.play();
  };

  return {
    part, run, own, kind, isLaidOut, viewOf, trees, places, allTrees, laidOut, isOwn, animated, selectorsOf, isSkipping, unskip,
    refersToSkipped, refersByName, isNeverShown, isBounded, showsNoscript, paintsBeyond, scrolls, openAxes, canScroll,
    animationsOf, refreshOf, refreshBy, leavesIn, clocksOf, hasOwn, ANIMATING, STRONGEST, NOBODY, XHTML, HTML, isSent, runs,
    leftOf, endsWithin, isYoung, hasSizeQueries, restlessIn, lasts, periodOf, repeats, isEndless, above, overflows, isVisible,
    NAMED_PARTS,
    begins, isPassing, bringTo, SOON_MS, SLOW_MS, ENDLESS_MS, hold, isHeld, letGo,
  };
})();
