// Evaluated first in the isolated worlds of a document, where nothing the page has patched can reach it: what the other
// scripts there share.
// part(object, type, name), run(object, type, name, ...values): what an object has of a class, and calls of it.
// own(name): the same of the document. kind(node), viewOf(element): the type of a node, and the window of an element.
// isLaidOut(element): whether it is.
// trees(root), places(document, x, y), allTrees(): the shadow trees in a tree, the documents in one, and both of all.
// laidOut(root): what may be laid out in an element.
// animated(element, look): gives an element a look, by an animation, and returns that.
// unskipped(style): the look of a box that has content only near the window when it is there; null for other boxes.
// scrolls(style), canScroll(element): whether a box can be scrolled to the side, and down; and by a reader.
// animationsOf(tree), endsWithin(animation, ms): animations, and whether one ends soon.
// isYoung(animation, ms): whether it has gone on for less than so long.
// lasts(effect, ms): how long an animation may last that counts as it ends if readers stay for so long.
// clocksOf(tree): the drawings that have a clock for their own animations (SMIL), unless it is stopped.
// hasOwn(drawing): whether it has such animations.
// hold(animation), isHeld(animation), letGo(animation): pauses one at the very time it has, and lets it go on.
globalThis.dom = (() => {
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
  // The documents of the same origin, each with the place of its window.
  const places = function* (inner, x, y) {
    yield [inner, x, y];
    for (const one of inner.querySelectorAll("iframe, frame")) {
      const box = one.getBoundingClientRect();
      const [left, top] = [x + box.left + one.clientLeft, y + box.top + one.clientTop];
      if (one.contentDocument) yield* places(one.contentDocument, left, top);
    }
  };
  const allTrees = () => [...places(document, 0, 0)].flatMap(([inner]) => [...trees(inner)]);
  // The nodes inside of an element in the flat tree that may be laid out.
  const inside = (element) => {
    const name = part(element, Element, "localName");
    if (name === "details" && element.open === false) return [...element.children].slice(0, 1);
    const slotted = name === "slot" ? element.assignedNodes?.() ?? [] : [];
    return slotted.length ? slotted : part(part(element, Element, "shadowRoot") ?? element, Node, "childNodes");
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
      if (style.display === "none" || style.contentVisibility === "hidden") continue;
      yield [node, style];
      const isSkipped = style.contentVisibility === "auto";
      for (const one of inside(node)) {
        waiting.push(one);
        if (isSkipped && kind(one) === Node.ELEMENT_NODE) run(one, Element, "getBoundingClientRect");
      }
    }
  };
  // Animations are the only change of an element that no selector matches.
  const animated = (element, look) => {
    const animation = run(element, Element, "animate", look, { duration: 1, fill: "forwards" });
    animation.finish();
    return animation;
  };
  // What it contains stays contained: https://www.w3.org/TR/css-contain-2/#content-visibility
  const unskipped = ({ contentVisibility, translate, overflow, display }) => (contentVisibility !== "auto" ? null : {
    contentVisibility: "visible",
    ...(translate === "none" ? { translate: "0px" } : {}),
    ...(overflow === "visible" ? { overflow: "clip" } : {}),
    ...(display === "block" ? { display: "flow-root" } : {}),
  });
  const scrolls = ({ overflowX, overflowY }) => [overflowX, overflowY].map((value) => /auto|scroll/.test(value));
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
  // Elements of other namespaces may have this name.
  const clocksOf = (tree) => [...tree.querySelectorAll("svg")].filter((one) =>
    part(one, Element, "namespaceURI") === "http://www.w3.org/2000/svg" && !run(one, SVGSVGElement, "animationsPaused"));
  const hasOwn = (drawing) => drawing.querySelector("animate, animateMotion, animateTransform, set") !== null;
  // Whether an animation ends in so many milliseconds, as readers find it from then on.
  const endsWithin = (animation, ms) => {
    const timing = animation.effect?.getComputedTiming();
    // Those of frames are instances of other classes.
    const isRunning = animation.timeline && !("source" in animation.timeline) && animation.playState === "running";
    const [time, rate] = [animation.currentTime, animation.playbackRate];
    return isRunning && timing && rate > 0 && time < timing.endTime && timing.endTime - time <= ms * rate;
  };
  const isYoung = ({ playState, currentTime, playbackRate }, ms) => playState === "running" && currentTime < ms * playbackRate;
  // What is over so soon is not waited for. What repeats so fast may hide something as long as it goes on.
  const SOON_MS = 5_000, FAST_MS = 1_000;
  const lasts = (effect, ms) => {
    const { duration, iterations } = effect.getComputedTiming();
    return iterations > 1 && duration < FAST_MS ? SOON_MS : ms;
  };
  // The worlds of a document have only such properties in common.
  const HELD = "held by domsieve: ";
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
    part, run, own, kind, isLaidOut, viewOf, trees, places, allTrees, laidOut, animated, unskipped, scrolls, canScroll,
    animationsOf, clocksOf, hasOwn, endsWithin, isYoung, lasts, SOON_MS, hold, isHeld, letGo,
  };
})();
