// The mouse: rows and buttons under it keep their places, so that a second click never meets another timer.

// How long a mouse that neither moves nor clicks keeps the places, in milliseconds. A list under a mouse that was left
// there would never come up to date.
const REST_MS = 60000;

const pointer = {
  // When the mouse last moved or clicked; a touch counts as none.
  at: -Infinity,

  isOver(box) {
    return performance.now() - this.at < REST_MS && box.matches(":hover");
  },
};

for (const type of ["pointermove", "pointerdown", "click"]) {
  addEventListener(type, ({pointerType}) => {
    if (pointerType) pointer.at = pointerType === "mouse" ? performance.now() : -Infinity;
  }, {passive: true, capture: true});
}
