// Evaluated once per document in an isolated world, where nothing the page has patched can reach it.
// quiet(): resolves with true once the structure has been still for `stillMs`, with false after `limitMs`.
// scrollThrough(): scrolls to the end in steps that let lazy content come, and back to the top.
// rests(): whether animations have ended that end soon, and lazy pictures have come that meet text.
// notePictures(), lostPictures(): where the pictures and frames are [[left, top, right, bottom], ...] that had not come
// when they were noted, or have gone since because loading was stopped; in px of the page.
// shows(), aim(): find the first element that is shown by a selector; null says that it is no selector.
// hideNoscript(): keeps noscript hidden while scripts are off, or ends that.
// trim(): makes the document ready for its capture, and ends the animations that end within `endMs`, or, if they wait for
// a reader to scroll to something, take no longer than `lateEndMs`; returns how many nodes it had. resume(): lets those go
// on that follow what is scrolled.
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
    if (element instanceof HTMLDetailsElement && !element.open) return [...element.children].slice(0, 1);
    const slotted = element instanceof HTMLSlotElement ? element.assignedNodes() : [];
    return slotted.length ? slotted : part(part(element, "shadowRoot") ?? element, "childNodes");
  };
  // The elements that may be laid out, each with its style, and the texts in them. Styles of elements in hidden ones are
  // not asked for, because Chrome then lays these out.
  const laidOut = function* () {
    const root = own("documentElement");
    const waiting = root ? [root] : [];
    while (waiting.length) {
      const node = waiting.pop();
      if (node instanceof Text) yield [node];
      if (!(node instanceof Element)) continue;
      const style = getComputedStyle(node);
      if (style.display === "none" || style.contentVisibility === "hidden") continue;
      yield [node, style];
      for (const one of inside(node)) waiting.push(one);
    }
  };
  const keep = (element, look) => {
    part(element, "animate").call(element, [look, look], { duration: 1, fill: "both" }).finish();
  };
  // A capture has no styles of ::first-line. Where the first line is the only one, the element gets its colour.
  const showFirstLine = (element, style) => {
    if (/^(inline|contents|none)$/.test(style.display)) return;
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
    for (const [element, style] of laidOut()) {
      if (!style) continue;
      if (style.contentVisibility === "auto") keep(element, { contentVisibility: "visible" });
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
  // Lazy pictures and frames that are not there yet, where text is: they come when a reader scrolls to it.
  const LAZY_MOST = 40;
  let late, coming, scrolled;
  let pictures = [];
  // A frame that waits has an empty document.
  const isAwaited = (one) => one.loading === "lazy" && (one instanceof HTMLIFrameElement
    ? Boolean(one.getAttribute("src")) && one.contentDocument?.URL === "about:blank" : !one.complete);
  // The documents of the same origin, each with the place of its window.
  const places = function* (inner, x, y) {
    yield [inner, x, y];
    for (const one of inner.querySelectorAll("iframe, frame")) {
      const box = one.getBoundingClientRect();
      const [left, top] = [x + box.left + one.clientLeft, y + box.top + one.clientTop];
      if (one.contentDocument) yield* places(one.contentDocument, left, top);
    }
  };
  const lateUnderText = () => {
    const late = [...document.querySelectorAll("img, iframe")].filter((one) => isAwaited(one) && isLaidOut(one));
    if (!late.length) return [];
    const rects = [];
    for (const [text, style] of laidOut()) {
      if (style || !text.data.trim()) continue;
      const range = new Range();
      range.selectNode(text);
      rects.push(...range.getClientRects());
    }
    return late.filter((one) => {
      const box = one.getBoundingClientRect();
      return rects.some((rect) => rect.left < box.right - 1 && rect.right > box.left + 1
        && rect.top < box.bottom - 1 && rect.bottom > box.top + 1);
    });
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

    // Called again and again, because no timer goes on without scripts.
    rests(leftMs, lazyMs) {
      if (!late) {
        late = lateUnderText();
        coming = late.slice(0, LAZY_MOST);
        scrolled = scrollY;
      }
      if (coming.length) {
        coming.pop().scrollIntoView({ block: "center", behavior: "instant" });
        return false;
      }
      if (scrolled !== scrollY) scrollTo({ top: scrolled, behavior: "instant" });
      if (lazyMs > 0 && (late.some(isAwaited) || own("readyState") !== "complete")) return false;
      return !own("getAnimations").call(document).some((one) => endsWithin(one, leftMs));
    },

    notePictures() {
      pictures = [];
      for (const [inner, x, y] of places(document, scrollX, scrollY)) {
        for (const tree of trees(inner)) {
          for (const one of tree.querySelectorAll("img, iframe")) {
            if (!isLaidOut(one)) continue;
            const box = one.getBoundingClientRect();
            pictures.push([one, isAwaited(one), one.naturalWidth, [x + box.left, y + box.top, x + box.right, y + box.bottom]]);
          }
        }
      }
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

    hideNoscript(isHidden) {
      document.adoptedStyleSheets = [
        ...[...document.adoptedStyleSheets].filter((sheet) => sheet !== noNoscript), ...(isHidden ? [noNoscript] : []),
      ];
    },

    resume() {
      for (const one of halfway) one.play();
      halfway = [];
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
      for (const script of own("scripts")) if (!isData(script)) script.textContent = "";
      const roots = [...places(document, 0, 0)].flatMap(([inner]) => [...trees(inner)]);
      for (const one of roots.flatMap(animationsOf)) {
        if (endsWithin(one, endMs) || (waits(one) && one.effect.getComputedTiming().endTime <= lateEndMs)) one.finish();
        if (followsItsElement(one)) {
          // Its time counts from the begin of its range.
          const begin = one.timeline.currentTime?.sub(one.currentTime ?? CSS.percent(0)) ?? CSS.percent(0);
          one.pause();
          one.currentTime = CSS.percent(50).sub(begin);
          halfway.push(one);
        }
      }
      showSkipped();
      return count;
    },
  };
})();
