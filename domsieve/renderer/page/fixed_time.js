// Runs in every frame before any script of the page: the time is that of START, and what is random comes again.
((start) => {
  const { construct } = Reflect;
  const { floor } = Math;
  const Real = Date;
  let looks = 0;
  // It goes on as often as it is looked at, so that nothing waits for ever.
  const now = () => start + floor(looks++ / 10);
  const Fixed = new Proxy(Real, {
    apply: () => `${new Real(now())}`,
    construct: (target, args, made) => construct(target, args.length ? args : [now()], made === Fixed ? target : made),
  });
  Real.now = { now() { return now(); } }.now;
  Real.prototype.constructor = Fixed;
  Object.defineProperty(self, "Date", { value: Fixed, writable: true, configurable: true });

  // Mulberry32.
  let state = 0x5eed;
  Math.random = { random() {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  } }.random;
})(START);
