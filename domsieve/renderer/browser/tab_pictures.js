// Evaluated after tab.js: adds what waits for pictures, so that pictures of the page show what readers see.
// isAwaited(element): whether a lazy picture, video or frame is not there yet.
// isHit(box): whether readers can get at a box in the window.
// layOut(): lays out what is skipped far from the window, so that what readers find there begins and loads, as when they
// come near; returns whether there is any.
// visit(places): has rests() scroll to places, too, [[left, top, right, bottom], ...] in px of the window as it is now.
// rests(): "rests" if animations have ended that end soon, others that count as after `endMs` have gone on for `oldMs`, and
// lazy pictures have come; it gives up when none has come for `lazyMs`. Else "begins" if an animation waits for
// a frame to begin with, or "moves".
// leftOut(): "unvisited" if there are lazy ones that were not scrolled to in time, or only far away, "pictures" if some were
// shown too late.
// notePictures(), lostPictures(): where the pictures and frames are [[left, top, right, bottom], ...] that had not come
// when they were noted, or have gone since because loading was stopped, and the texts that they met then, if the page was
// laid out anew; in px of the page.
Object.assign(domsieve, (() => {
  const {
    part, run, own, kind, isLaidOut, viewOf, trees, places, allTrees, laidOut, canScroll, openAxes, animationsOf, endsWithin, isYoung,
    isPassing, runs, above, overflows, isVisible,
  } = dom;

  let pictures, texts; // none are known if they could not be noted
  // Lazy pictures, videos and frames that are not there yet. They come when a reader scrolls near them, and may have another
  // size then, or paint elsewhere.
  let late, coming, reach, count, arrivedAt, elsewhere = [], rounds = 0;
  const [MOST_ROUNDS, MOST_TRIES] = [4, 20]; // scripts may add pictures for ever, or move them
  const FAR_PX = [10_000, 100_000]; // to the side and down: hardly a reader scrolls as far
  const passed = new WeakSet(), visited = new WeakSet(), moved = new Map(), scrolled = new Set(), reached = new Set(), visitedPlaces = [];
  const hasAnswer = (one, address) => /^(data|blob):/.test(address) || viewOf(one).performance
    .getEntriesByType("resource").some(({ name }) => name.split("#")[0] === address.split("#")[0]);
  const isAwaited = (one) => {
    if (one.loading !== "lazy") return false;
    const name = part(one, Element, "localName");
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
  // The attributes that scripts take the addresses of pictures from, when these come near the window.
  const SOURCES = ["data-src", "data-srcset", "data-lazy-src", "data-lazy-srcset", "data-original"];
  const BACKGROUNDS = ["data-bg", "data-bgset", "data-background", "data-background-image"];
  const scripted = new WeakSet();
  const waitsForPicture = (one) => SOURCES.some((name) => one.hasAttribute(name))
    && (/^(data:|$)/.test(one.currentSrc) || (one.complete && one.naturalWidth < 3));
  const waitsForBackground = (one) => BACKGROUNDS.some((name) => one.hasAttribute(name))
    && getComputedStyle(one).backgroundImage === "none";
  const waitsForScript = (one) => matchMedia("(scripting)").matches
    && (part(one, Element, "localName") === "img" ? waitsForPicture(one) : waitsForBackground(one));
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
  const edges = ({ left, top, right, bottom }, x, y) => [x + left, y + top, x + right, y + bottom];
  const meets = (one, other) => one[0] < other[2] && one[2] > other[0] && one[1] < other[3] && one[3] > other[1];
  // The lines of all texts, each with its edges from a place in the window.
  const allTexts = (left = 0, top = 0) => {
    const found = [];
    for (const [inner, x, y] of places(document, left, top)) {
      for (const [text, style] of laidOut(part(inner, Document, "documentElement"))) {
        if (style) continue;
        const range = new Range();
        range.selectNode(text);
        for (const rect of range.getClientRects()) found.push({ text, box: edges(rect, x, y) });
      }
    }
    return found;
  };
  const isNear = ({ left, right, top, bottom }, reach) =>
    left < innerWidth + reach && right > -reach && top < innerHeight + reach && bottom > -reach;
  const pass = (one) => {
    if (!isCut(one)) reached.add(one);
    passed.add(one);
    visited.add(one);
  };
  const passNear = () => {
    const near = coming.filter((one) => isNear(boxOf(one), scripted.has(one) ? 0 : reach));
    near.forEach(pass);
    coming = coming.filter((one) => !passed.has(one));
  };
  const [LEAST_PX, GRID] = [10, [0.1, 0.3, 0.5, 0.7, 0.9]]; // nobody turns a wheel over less
  // Where the window of an element may be scrolled to, in px of the window as it is now.
  const scrollable = (element) => {
    const { scrollingElement, documentElement } = viewOf(element).document;
    const { scrollWidth, scrollHeight, scrollLeft, scrollTop, clientWidth } = scrollingElement ?? documentElement;
    const { direction, writingMode } = getComputedStyle(documentElement);
    const left = (direction === "rtl" || writingMode.endsWith("-rl") ? clientWidth - scrollWidth : 0) - scrollLeft;
    const goesAside = viewOf(element) !== window || openAxes()[0];
    return new DOMRect(goesAside ? left : 0, -scrollTop, goesAside ? scrollWidth : clientWidth, scrollHeight);
  };
  // How wide and high an element is seen at most: of what boxes around it that never scroll leave, where its window may be
  // scrolled to; below 0 if it is beside that.
  const seenOf = (element) => {
    let { left, top, right, bottom } = element.getBoundingClientRect(), whole = scrollable(element);
    for (let one = element; one && viewOf(one) === viewOf(element); one = above(one)) {
      const { overflow, position } = getComputedStyle(one);
      if (position === "fixed") whole = new DOMRect(0, 0, viewOf(one).innerWidth, viewOf(one).innerHeight);
      if (overflow === "visible" || canScroll(one).some(Boolean)) continue;
      const around = one.getBoundingClientRect();
      [left, top] = [Math.max(left, around.left), Math.max(top, around.top)];
      [right, bottom] = [Math.min(right, around.right), Math.min(bottom, around.bottom)];
    }
    return [Math.min(right, whole.right) - Math.max(left, whole.left), Math.min(bottom, whole.bottom) - Math.max(top, whole.top)];
  };
  const isCut = (element) => Math.min(...seenOf(element)) < 0;
  // Whether readers may get at a box: not if styles hide or cut it, or a box around it does that never scrolls, or if it is
  // where nobody can scroll to.
  const isOpen = (box) => {
    if (!isVisible(box)) return false;
    for (let one = box; one && viewOf(one) === viewOf(box); one = above(one)) {
      if (getComputedStyle(one).clipPath !== "none") return false;
    }
    const frame = viewOf(box)?.frameElement;
    return Math.min(...seenOf(box)) >= LEAST_PX && (!frame || (!frame.closest("[inert]") && isOpen(frame)));
  };
  // Whether a box in another one keeps the wheel for itself when it comes to its end.
  const keepsWheel = (element) => {
    const { overflow, overscrollBehaviorX, overscrollBehaviorY } = getComputedStyle(element);
    return /auto|scroll|hidden/.test(overflow) && [overscrollBehaviorX, overscrollBehaviorY].some((one) => one !== "auto");
  };
  // Whether a pointer meets a box in the window, in more than a line of pixels: also below others, but not below what is in
  // it and keeps the wheel.
  const isHit = (box) => {
    const [root, view] = [run(box, Node, "getRootNode"), viewOf(box)];
    const meets = (x, y) => {
      const hit = run(root, kind(root) === Node.DOCUMENT_NODE ? Document : ShadowRoot, "elementsFromPoint", x, y);
      const on = hit.slice(0, hit.indexOf(box)).filter((one) => run(box, Node, "contains", one));
      return hit.includes(box) && !on.some(keepsWheel);
    };
    const meetsThere = (x, y) => meets(x, y) && [[LEAST_PX / 2, 0], [0, LEAST_PX / 2]].every(([across, down]) =>
      meets(x + across, y + down) || meets(x - across, y - down));
    const { left, top, right, bottom } = box.getBoundingClientRect();
    const places = (from, to, end) => GRID.map((share) => Math.max(from, 0) + share * (Math.min(to, end) - Math.max(from, 0)));
    const [across, down] = [places(left, right, view.innerWidth), places(top, bottom, view.innerHeight)];
    return isVisible(box) && across.some((x) => down.some((y) => meetsThere(x, y))) && (!view.frameElement || isHit(view.frameElement));
  };
  // As readers can: of boxes in others the outer one first, each if a pointer meets it then; not where styles say that it
  // snaps, and of pages that consent boxes lock, which will be released, only down. Returns whether it may help to try again.
  const scrollToIt = (element, shut) => {
    const page = own("scrollingElement"), boxes = [];
    for (let box = above(element); box; box = above(box)) {
      const axes = box === page ? [openAxes()[0], true] : canScroll(box);
      if (axes.some(Boolean) && !shut.has(box) && overflows(box).some(Boolean)) boxes.unshift([box, axes]);
    }
    let isScrolled = false;
    for (const [at, [box, [isWide, isHigh]]] of boxes.entries()) {
      if (box !== page && !isHit(box)) {
        shut.add(box);
        return true;
      }
      const [x, y] = [part(box, Element, "scrollLeft"), part(box, Element, "scrollTop")];
      if (!moved.has(box)) moved.set(box, [x, y]);
      if (box !== page) scrolled.add(box);
      const isPort = box === viewOf(box).document.scrollingElement;
      const one = boxOf(boxes[at + 1]?.[0] ?? element);
      const port = box === page ? new DOMRect() : boxOf(isPort ? viewOf(box).frameElement : box);
      const [left, top] = [x + one.x - port.x, y + one.y - port.y];
      run(box, Element, "scrollTo", { ...(isWide && { left }), ...(isHigh && { top }), behavior: "instant" });
      isScrolled ||= part(box, Element, "scrollLeft") !== x || part(box, Element, "scrollTop") !== y;
    }
    return isScrolled;
  };
  const scrollBack = () => {
    for (const [box, [left, top]] of moved) {
      if (part(box, Element, "scrollLeft") !== left || part(box, Element, "scrollTop") !== top) {
        run(box, Element, "scrollTo", { left, top, behavior: "instant" });
      }
    }
    moved.clear();
  };
  // Readers come from the top, and what comes first may keep others from coming.
  const highest = (some) => some.map((one) => [boxOf(one).top, one]).sort(([one], [other]) => one - other)[0]?.[1];
  const freshOnes = () => {
    const known = new Set(late);
    return allAwaited().filter((one) => !known.has(one));
  };
  // Scrolls to the next ones. Returns whether there may be more to come, but not for longer than `limitMs` without any.
  const brings = (limitMs) => {
    const now = performance.now();
    if (!late) {
      late = coming = allAwaited();
      // What is no farther than this from the window comes with what is in it; Chrome goes farther.
      [reach, count, arrivedAt] = [innerHeight, late.length, now];
      passNear();
    }
    const waiting = late.filter(isComing);
    if (waiting.length < count) [count, arrivedAt] = [waiting.length, now];
    if (now - arrivedAt >= limitMs) coming = [];
    const next = highest(coming.filter(isAwaited)) ?? highest(coming.filter(isComing)); // no script may ever bring the others
    if (next) {
      // What is sticky moves on with the page.
      let [isOn, tries] = [true, 0], shut = new Set();
      while (isOn && tries++ < MOST_TRIES && !isNear(boxOf(next), 0)) isOn = scrollToIt(next, shut);
      if (!isOn || isNear(boxOf(next), 0)) pass(next);
      passNear();
      return true;
    }
    const place = elsewhere.find((one) => !isNear(one(), 0));
    if (place) {
      const [root, { x, y }] = [own("scrollingElement") ?? own("documentElement"), place()];
      if (!moved.has(root)) moved.set(root, [part(root, Element, "scrollLeft"), part(root, Element, "scrollTop")]);
      scrollBy({ ...(openAxes()[0] && { left: x }), top: y, behavior: "instant" });
      visitedPlaces.push(place);
      elsewhere = elsewhere.filter((one) => one !== place && !isNear(one(), 0));
      return true;
    }
    // Those that have come may have others shown, by styles that ask for sizes.
    const fresh = rounds < MOST_ROUNDS ? freshOnes() : [];
    if (fresh.length) {
      rounds++;
      [late, coming, count, arrivedAt] = [[...late, ...fresh], [...coming, ...fresh], count + fresh.length, now];
      passNear();
      return true;
    }
    scrollBack();
    if (reach && count && now - arrivedAt >= limitMs / 2) {
      [reach, coming] = [0, waiting];
      for (const one of waiting) passed.delete(one);
    }
    return now - arrivedAt < limitMs && (count > 0 || own("readyState") !== "complete");
  };

  const allDocuments = () => Array.from(places(document, 0, 0), ([inner]) => inner);
  // What is in a frame, which may be scaled, paints somewhere in that.
  const outermost = (element) => {
    const frame = viewOf(element)?.frameElement;
    return frame ? outermost(frame) : element;
  };
  const allPictures = () => {
    const found = [];
    for (const inner of allDocuments()) {
      for (const tree of trees(inner)) {
        for (const element of tree.querySelectorAll("img, iframe, video")) {
          if (!isLaidOut(element)) continue;
          const box = edges(outermost(element).getBoundingClientRect(), scrollX, scrollY);
          found.push({ element, isLate: isAwaited(element), width: element.naturalWidth, box });
        }
      }
    }
    return found;
  };

  return {
    isAwaited,
    isHit,

    layOut() {
      let isSkipping = false;
      for (const [inner] of places(document, 0, 0)) {
        for (const [, style] of laidOut(part(inner, Document, "documentElement"))) {
          isSkipping ||= style?.contentVisibility === "auto";
        }
      }
      return isSkipping;
    },

    visit(places) {
      const [x, y] = [scrollX, scrollY];
      elsewhere = places.map(([left, top, right, bottom]) =>
        () => new DOMRect(left + x - scrollX, top + y - scrollY, right - left, bottom - top));
      elsewhere = elsewhere.filter((one) => !isNear(one(), 0));
    },

    // Called again and again, because no timer goes on without scripts.
    rests(leftMs, lazyMs, endMs, oldMs) {
      const isBringing = brings(lazyMs);
      const all = allTrees().flatMap(animationsOf);
      const isMoving = (one) => endsWithin(one, leftMs) || (isPassing(one, endMs) && isYoung(one, oldMs));
      if (!isBringing && !all.some(isMoving)) return "rests";
      return all.some((one) => one.pending && runs(one)) ? "begins" : "moves";
    },

    leftOut() {
      // A reader comes later than this to what only a moment made a box that scrolls, or put where a reader comes.
      const isThere = (box) => part(box, Node, "isConnected");
      const isShut = [...scrolled].filter(isThere).some((box) => !canScroll(box).some(Boolean) || !isOpen(box));
      // Nor does one come to what is gone from there, or as far away.
      const isFar = (box) => edges(box, scrollX, scrollY).some((px, at) => Math.abs(px) > FAR_PX[at % 2]);
      const isGone = (one) => isLaidOut(one) && (isCut(one) || isFar(boxOf(one)));
      const isLost = [...reached].filter(isThere).some(isGone) || visitedPlaces.some((place) => isFar(place()));
      const isLeft = isShut || isLost || late?.some((one) => isAwaited(one) && !visited.has(one));
      return [...(isLeft ? ["unvisited"] : []), ...(late && freshOnes().length ? ["pictures"] : [])];
    },

    notePictures() {
      [pictures, texts] = [allPictures(), allTexts(scrollX, scrollY)];
    },

    lostPictures() {
      const now = new Map(allPictures().map(({ element, box }) => [element, box]));
      const found = [], left = [];
      for (const { element, isLate, width, box } of pictures) {
        if (!isLate && element.naturalWidth === width) continue;
        const [x, y] = now.get(element) ?? box;
        found.push([x, y, x + box[2] - box[0], y + box[3] - box[1]]);
        if (x !== box[0] || y !== box[1]) left.push(box);
      }
      // Texts that a picture met count, too, where both have not moved alike.
      const met = new Set(left.length ? texts.filter(({ box }) => left.some((one) => meets(box, one))).map(({ text }) => text) : []);
      if (met.size) found.push(...allTexts(scrollX, scrollY).filter(({ text }) => met.has(text)).map(({ box }) => box));
      return found;
    },
  };
})());
