// Runs in every frame before any script of the page, in the page's own world.
(() => {
  // What a browser that blocks popups does.
  window.open = () => null;

  // A worker that outlives its page, and would answer for the server of the next one, is never fetched.
  if (self.ServiceWorkerContainer) ServiceWorkerContainer.prototype.register = async () => {};

  // Nothing outside sees changes inside a closed shadow tree, so each tells the document of its own.
  const { apply } = Reflect;
  const Observer = MutationObserver;
  const observe = Observer.prototype.observe;
  const dispatch = EventTarget.prototype.dispatchEvent;
  const Signal = Event;
  const page = document;
  const tell = new Observer(() => apply(dispatch, page, [new Signal("domsieve-shadow-change")]));
  Element.prototype.attachShadow = new Proxy(Element.prototype.attachShadow, {
    apply(attach, host, args) {
      const root = apply(attach, host, args);
      apply(observe, tell, [root, { childList: true, subtree: true }]);
      return root;
    },
  });
})();
