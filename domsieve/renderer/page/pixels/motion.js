// Evaluated after page.js: adds what holds the page still for the pictures, and lays things out.
// isFollowing(...roots): whether animations follow what is scrolled, or wait, maybe until a reader scrolls to something.
// still(heldAt, ...roots): pauses animations, and those of SVG where they were when the former were held, in ms since 1970,
// or 0 if they were not; returns how many of the former there were, and how many were too many to know whether they throw
// texts about.
// resume(): lets all go on.
// cover(...elements), uncover(...elements): make fixed boxes transparent, with what is behind those in the top layer, and
// show some of them again. keepBackdrops(): what is behind those in the top layer is never hidden.
// advance(ms): brings all that was paused, and is where it was, to another time.
// isMoving(): whether any animation goes on, as others have let it.
// isUnlike(): whether the browser shows pictures of what was there before.
// animated(...roots), known(properties, selectors, rules): see below.
// hasSizes(...roots): whether styles may ask for the height of boxes.
// oddities(withScripts, ...roots): what hardly any page has. events: animations of drawings wait for events that may come by themselves, or
// change anything beside what they are in: by its address, or by classes, which style sheets follow. number: a number field
// has the focus, so that a wheel changes it. noscript: what is for browsers without scripts is shown, although they are on,
// or may be off in this document. queries: style sheets may ask for the size of boxes. clocks: drawings have animations of
// their own. languages: drawings ask for the languages of a reader. highlights: a script has made some. remembers: transitions
// last for half a minute and longer. The others are those of `dom.restlessIn`.
// reveal(...roots): shows the content of boxes that have none far from the window; returns whether there are any.
// hasCanvas(...roots): whether there is any canvas.
// relay(endsMs, ...roots): lays canvases out anew, and brings the animations that begin with that to where they are after
// some time.
Object.assign(domsievePixels, (() => {
  const {
    part, run, own, isLaidOut, isSkipping, unskip, animationsOf, clocksOf, hasOwn, ANIMATING, isSent, isHeld, lasts, restlessIn,
    hasSizeQueries, NAMED_PARTS, refersByName, isNeverShown, SOON_MS, XHTML,
  } = dom;
  const { sheet, strong, adopt, drop, treesOf, put, undo, outer, hideThrown } = domsievePixels;

  // What snaps does not stay where it is scrolled to.
  const stilled = sheet("* { scroll-snap-type: none !important }");
  const caretless = sheet("* { caret-color: transparent !important }");
  const lit = sheet("* { caret-animation: manual !important }");
  const unbacked = sheet("::backdrop { background: none !important; backdrop-filter: none !important }");
  // Transitions that have begun go on, but none begins.
  const SUDDEN = "transition-duration: 0s !important; transition-delay: 0s !important;";
  const PARTS = ["", "::before", "::after", "::details-content", "::placeholder"];
  const sudden = sheet(PARTS.map((name) => `${strong("*")}${name} { ${SUDDEN} }`).join(""));
  const unlaid = sheet(`${strong("canvas")} { display: none !important }`);

  const paused = [];
  const revealed = [];
  const stopped = [];
  let known = [];
  let [backed, isUnbacked] = [[], false];

  const MOST_ENDLESS = 2_000; // a bound of the work
  const LONG_S = 30; // what ends before has ended in the pictures
  // Nobody reads what is thrown about for ever. Returns how many animations are left out, and 1 if something is hidden that may
  // cover others, else 0.
  const hideEndless = () => {
    const all = paused.map(([animation]) => animation).filter(({ effect }) =>
      effect?.target && effect.getComputedTiming().endTime > SOON_MS);
    const endless = all.length > MOST_ENDLESS ? all.sort(() => Math.random() - 0.5).slice(0, MOST_ENDLESS) : all;
    const clocks = stopped.filter(([drawing]) => hasOwn(drawing));
    const isCovering = (endless.length || clocks.length) && hideThrown(known, endless, clocks);
    return [all.length - endless.length, Number(isCovering)];
  };
  // Animations are as readers find them now: what ends soon had time for it.
  const hold = (animation) => {
    if (!isHeld(animation) && animation.playState !== "running") return;
    paused.push([animation, animation.currentTime]);
    if (!isHeld(animation)) animation.pause();
  };

  const allAnimations = (roots) => roots.flatMap(animationsOf);

  return {
    isFollowing(...roots) {
      const isStopped = ({ effect }) =>
        /paused/.test(getComputedStyle(effect.target, effect.pseudoElement).animationPlayState);
      const isWaiting = (one) => one.playState === "paused" && !isHeld(one) && !(one instanceof CSSTransition)
        && !(one instanceof CSSAnimation && isStopped(one));
      return allAnimations(treesOf(roots)).some((one) => one.timeline instanceof ScrollTimeline || isWaiting(one));
    },

    still(heldAt, ...roots) {
      known = treesOf(roots);
      // By the same clock, which goes on with each frame that the browser draws.
      const lateS = heldAt && (performance.timeOrigin + own("timeline").currentTime - heldAt) / 1000;
      const animations = allAnimations(known);
      animations.forEach(hold);
      // A caret that is more than a bar, or is enlarged, may cover text.
      const MOST_ENLARGED = 3;
      const isThin = (one) => !(one instanceof HTMLElement) || ["Width", "Height"].every((name) =>
        run(one, Element, "getBoundingClientRect")[name.toLowerCase()] <= MOST_ENLARGED * Math.max(part(one, HTMLElement, `offset${name}`), 1));
      const isBar = (one) => !one || (/^(auto|bar|undefined)$/.test(getComputedStyle(one).caretShape) && isThin(one));
      adopt([stilled, sudden, known.every((root) => isBar(root.activeElement)) ? caretless : lit], known);
      backed = known.flatMap((root) => [...root.querySelectorAll(":modal, :popover-open, :fullscreen")]);
      // Those that go with the page are covers of its text, and grounds of what goes with the page in front of them. In
      // frames, no fixed boxes are transparent.
      const isFixed = (one) => ["", "::backdrop"].every((name) => getComputedStyle(one, name).position === "fixed");
      isUnbacked = parent === window && backed.length > 0 && backed.every(isFixed);
      if (isUnbacked) adopt([unbacked], known);
      for (const root of known) {
        for (const drawing of clocksOf(root)) {
          run(drawing, SVGSVGElement, "pauseAnimations");
          const time = run(drawing, SVGSVGElement, "getCurrentTime") - lateS;
          if (lateS) run(drawing, SVGSVGElement, "setCurrentTime", time);
          stopped.push([drawing, time]);
        }
      }
      return [animations.length, ...hideEndless()];
    },

    resume() {
      for (const animation of revealed) animation.cancel();
      for (const [animation, time] of paused) {
        animation.currentTime = time;
        if (!isHeld(animation)) animation.play();
      }
      for (const [drawing] of stopped) run(drawing, SVGSVGElement, "unpauseAnimations");
      drop([stilled, caretless, lit, unbacked, sudden], known);
    },

    cover(...elements) {
      // Either property may be fixed by the page as important.
      for (const one of elements) put(one, { opacity: "0", clipPath: "inset(50%)" });
      if (isUnbacked && !document.adoptedStyleSheets.includes(unbacked)) adopt([unbacked], known);
    },

    keepBackdrops() {
      drop([unbacked], known);
      isUnbacked = false;
    },

    uncover(...elements) {
      elements.forEach(undo);
      const isShownIn = (around, node) => Boolean(node) && (node === around || isShownIn(around, outer(node)));
      const isOut = (one) => backed.some((dialog) => isShownIn(one, dialog));
      if (isUnbacked && elements.some(isOut)) drop([unbacked], known);
    },

    advance(ms) {
      for (const one of paused) {
        const [animation, time, last] = one;
        // Others have been brought to another time already; a pause takes a moment.
        if (Math.abs(animation.currentTime - (last ?? time)) > 200) continue;
        animation.currentTime = one[2] = time + ms * animation.playbackRate;
      }
      for (const [drawing, time] of stopped) run(drawing, SVGSVGElement, "setCurrentTime", time + ms / 1000);
    },

    isMoving() {
      return allAnimations(known).some(({ playState }) => playState === "running");
    },

    isUnlike() {
      return Boolean(document.activeViewTransition);
    },

    hasSizes(...roots) {
      const isSized = (one) => /(?<!-)size/.test(getComputedStyle(one).containerType);
      return treesOf(roots).some((root) => [...root.querySelectorAll("*")].some(isSized));
    },

    oddities(withScripts, ...roots) {
      const isShown = (one) => getComputedStyle(one).display !== "none";
      // No scripts may run in some frames, also for readers.
      const mayRun = frameElement?.getAttribute("sandbox")?.toLowerCase().split(/\s+/).includes("allow-scripts");
      const isApart = globalThis.origin === "null" || mayRun === false;
      // Others may show these, wherever they are.
      const REFERRED = "filter, mask, clipPath, pattern, symbol, linearGradient, radialGradient, marker, [id]";
      const isFar = (one) => part(one, Element, "localName") !== "mpath"
        && (one.getAttribute("attributeName") === "class" || one.hasAttribute("href") || one.hasAttribute("xlink:href"));
      const waits = (one) => ["begin", "end"].some((name) => isSent(one.getAttribute(name)));
      // What changes so slowly shows what was, and that depends on when the browser first asked for the styles.
      const most = (times) => Math.max(...times.split(",").map(parseFloat));
      const lastsLong = ({ transitionDelay, transitionDuration }) => most(transitionDelay) + most(transitionDuration) >= LONG_S;
      const someLook = (root, test) => [...root.querySelectorAll("*")].filter(isLaidOut).some((one) =>
        ["", "::before", "::after"].some((name) => test(getComputedStyle(one, name))));
      const isOddLook = {
        remembers: lastsLong,
        draws: ({ offsetPath }) => offsetPath.includes("url("),
        masked: ({ maskClip }) => /\btext\b/.test(maskClip),
      };
      // A script can give names to elements by which captures take them for those of HTML.
      const isRenamed = (one) => {
        const [space, name] = [part(one, Element, "namespaceURI"), part(one, Element, "localName")];
        const said = document.contentType === "text/html" ? null : run(one, Element, "getAttribute", "xmlns");
        return (space !== XHTML && name === name.toUpperCase()) || (said !== null && said !== space);
      };
      const isOdd = {
        queries: hasSizeQueries,
        videos: (root) => [...root.querySelectorAll("video")].some(({ paused, ended }) => !paused && !ended),
        clocks: (root) => clocksOf(root).some((one) => hasOwn(one) && (isLaidOut(one) || one.querySelector(REFERRED))),
        events: (root) => [...root.querySelectorAll(ANIMATING)].some((one) => isFar(one) || waits(one)),
        selected: () => String(getSelection()).trim() !== "",
        number: ({ activeElement }) => activeElement instanceof HTMLInputElement && activeElement.type === "number",
        highlights: () => CSS.highlights.size > 0,
        hides: (root) => [...root.querySelectorAll(NAMED_PARTS)].some(isNeverShown) && someLook(root, refersByName),
        renamed: (root) => [...root.querySelectorAll("*")].some(isRenamed),
        skipped: ({ documentElement, body }) =>
          [documentElement, body].some((one) => one && getComputedStyle(one).contentVisibility !== "visible"),
        languages: (root) => root.querySelector("[systemLanguage]") !== null,
        noscript: (root) => withScripts && [...root.querySelectorAll("noscript")].some((one) => isApart || isShown(one)),
      };
      const all = treesOf(roots);
      // What is slotted into closed trees is laid out as soon as anybody asks where it is.
      const isDrawn = (one) => one.querySelector(NAMED_PARTS) !== null;
      const refers = roots.some((root) => isDrawn(root) || isDrawn(root.host));
      // In one pass: a page may have very many elements.
      const oddLooks = new Set(), names = Object.keys(isOddLook);
      const note = (style) => {
        for (const name of names) if (!oddLooks.has(name) && isOddLook[name](style)) oddLooks.add(name);
        return oddLooks.size === names.length;
      };
      all.some((root) => someLook(root, note));
      const others = Object.keys(isOdd).filter((name) => all.some(isOdd[name]));
      return [...others, ...oddLooks, ...(refers ? ["refers"] : []), ...restlessIn(all)];
    },

    // The properties that animations change, as CSS.
    animated(...roots) {
      const names = treesOf(roots).flatMap(animationsOf)
        .flatMap(({ effect }) => effect?.getKeyframes().flatMap((key) => Object.keys(key)) ?? []);
      const dashed = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      return [...new Set(names)].map((name) => `${dashed(name)}: `);
    },

    // Which properties, pseudo-classes and at-rules the browser knows.
    known(properties, selectors, rules) {
      const isSelector = (name) => ["", "(a)", "(1)", "(left)"].some((rest) => CSS.supports(`selector(${name}${rest})`));
      const isRule = (name) => ["{}", "a {}", "--a {}", "--a() {}", "(a) {}", "--a (width);"].some((rest) => {
        const rule = new CSSStyleSheet();
        rule.replaceSync(`@${name} ${rest}`);
        return rule.cssRules.length;
      });
      return [
        ...properties.filter((name) => CSS.supports(name, "inherit") || CSS.supports(`-webkit-${name}`, "inherit")),
        ...selectors.filter(isSelector), ...rules.filter(isRule).map((name) => `@${name}`),
      ];
    },

    // Boxes with `content-visibility: auto` have content only near the window, which a picture of the page is not.
    reveal(...roots) {
      const known = new Set();
      const isFresh = (one) => !known.has(one) && isLaidOut(one) && isSkipping(one, getComputedStyle(one));
      const find = () => treesOf(roots).flatMap((root) => [...root.querySelectorAll("*")]).filter(isFresh);
      // Boxes may have others in them.
      for (let all = find(); all.length; all = find()) {
        all.forEach((one) => known.add(one));
        revealed.push(...unskip(all));
      }
      return known.size > 0;
    },

    // A canvas that is laid out while scripts are off has no picture.
    relay(endsMs, ...roots) {
      const all = treesOf(roots);
      // Their animations begin anew, also those that a script has paused.
      const old = new Set(allAnimations(all));
      const canvases = new Set([...old].map(({ effect }) => effect?.target).filter((one) => one instanceof HTMLCanvasElement));
      const looks = () => [...canvases].map((one) => {
        const style = getComputedStyle(one);
        return [...style].map((name) => style[name]).join();
      }).join();
      const before = looks();
      adopt([unlaid], all);
      const isLaid = all.some((root) => [...root.querySelectorAll("canvas")].some((one) => getComputedStyle(one).display !== "none"));
      drop([unlaid], all);
      const fresh = allAnimations(all).filter((one) => !old.has(one));
      for (const animation of fresh.filter(({ playState }) => playState === "running")) {
        if (animation.effect.getComputedTiming().endTime <= lasts(animation, endsMs)) animation.finish();
        else {
          animation.currentTime = endsMs * (1 + Math.random()); // no page can know when
          animation.pause();
        }
      }
      const isOther = fresh.some(({ effect }) => !(effect?.target instanceof HTMLCanvasElement));
      if (isLaid || isOther || looks() !== before) throw new Error("A canvas cannot be laid out anew.");
    },

    // Whether animations of drawings wait for keys or the focus.
    hasKeyEvents(...roots) {
      return treesOf(roots).some((root) => [...root.querySelectorAll(ANIMATING)].some((one) =>
        ["begin", "end"].some((name) => /key|focus|blur|access|DOMActivate|activate/i.test(one.getAttribute(name)))));
    },

    hasCanvas(...roots) {
      return treesOf(roots).some((root) => root.querySelector("canvas"));
    },
  };
})());
